"""Mermaid's drawings as SVG in the page, made at the build, so that a reader's browser fetches nothing."""

import json
from itertools import count
from typing import Final

from docutils import nodes
from merman import Merman
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_COLOURS: Final = {
    "light": {
        "primaryColor": "#eaf3fb",
        "primaryBorderColor": "#3b78b0",
        "primaryTextColor": "#1b2733",
        "lineColor": "#66788a",
        "textColor": "#1b2733",
        "edgeLabelBackground": "#ffffff",
    },
    "dark": {
        "primaryColor": "#1f3245",
        "primaryBorderColor": "#6fa8dc",
        "primaryTextColor": "#e6edf3",
        "lineColor": "#93a4b5",
        "textColor": "#e6edf3",
        "edgeLabelBackground": "#131416",
    },
}
"""Colours of Mermaid's theme "base", for each of the site's themes."""

_FONT: Final = {"fontFamily": "arial, sans-serif", "fontSize": "14px"}
"""The stylesheet has the same."""
_NUMBERS: Final = count()


class Drawing(SphinxDirective):
    """A fence ```mermaid."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The drawing for each theme of the site; the theme's stylesheet hides the other one."""
        source = "\n".join(self.content)
        return [
            nodes.raw("", f'<div class="drawing only-{theme}">{svg(source, theme)}</div>', format="html")
            for theme in _COLOURS
        ]


def svg(source: str, theme: str) -> str:
    """The drawing as an SVG with an ID that no other drawing has.

    Raises: merman.MermanError: the source is not Mermaid's.
    """
    settings = json.dumps({"theme": "base", "themeVariables": {**_COLOURS[theme], **_FONT}})
    drawn = Merman().render_svg(f"%%{{init: {settings}}}%%\n{source}", None)
    return str(drawn).replace("merman", f"drawing-{next(_NUMBERS)}")


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_directive("mermaid", Drawing)
    return {"parallel_read_safe": False}
