"""The screen of a rehearsal: a terminal that shows what others wrote, and obeys none of it."""

from collections.abc import Iterable

from aks_infiniband.terminal import text_only
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment


class Screen(Console):
    """Words of engines, pods and operators may hold control characters: they are shown."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """As rich renders it, with the control characters of texts shown."""
        return text_only(super().render(renderable, options))
