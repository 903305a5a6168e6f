"""The machine sizes: what is plugged into each, and what Azure requires for it.

One table, `sizes.yaml`, read by the components, by the rehearsal's simulated machines and by the tests.
"""

from collections.abc import Iterator
from typing import Any, Final

from aks_infiniband.facts.catalog.described import described
from aks_infiniband.facts.catalog.machine import MachineSize
from aks_infiniband.facts.tables import table

_NOT_KNOWN: Final = {"source": "assumed"}


def _sizes(known: dict[str, Any]) -> Iterator[MachineSize]:
    """Each size, followed by its variants with fewer cores: of HB120rs_v3 HB120-96rs_v3."""
    for name, size in known["sizes"].items():
        full, layout = size["vcpus"], known["layouts"][size["layout"]] if "layout" in size else _NOT_KNOWN
        more = {"layout": layout, "retires": size.get("retires")}
        yield described(name, size, **more)
        for cores in size.get("constrainedCores", ()):
            variant = name.replace(str(full), f"{full}-{cores}", 1)
            yield described(variant, {**size, "vcpus": cores}, quota_vcpus=full, **more)


SIZES: Final[dict[str, MachineSize]] = {size.name: size for size in _sizes(table(__package__, "sizes.yaml"))}
"""Every InfiniBand-capable size by its Azure name."""
