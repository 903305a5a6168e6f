"""Images that a pool's machines cannot run, because they are built for another architecture."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from aks_infiniband.facts.catalog.machine import Architecture
from aks_infiniband.facts.tables import table
from aks_infiniband.stack.settings.mistakes import Mistake, Path, wrong
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known

_KNOWN: Final[Mapping[Architecture, Sequence[str]]] = table("aks_infiniband.facts", "architectures.yaml")
"""Parts of the names of images that are built for one architecture alone."""
_NAMED: Final[Mapping[str, Architecture]] = {
    "amd64": "amd64",
    "x86_64": "amd64",
    "x86-64": "amd64",
    "arm64": "arm64",
    "aarch64": "arm64",
}
"""The part of an image's name or tag that names the one architecture that it is built for."""


def _nic_driver_version(reading: Reading) -> Iterator[Mistake]:
    path, version = ("networkOperator", "driverVersion"), reading.settings.network_operator.driver_version
    asked = known(reading.infiniband_pools, lambda pool: pool.facts.nic_driver)
    yield from architecture(path, version, [pool for pool, driver in asked if driver == "doca-ofed"])
    if version and all(not pool.infiniband or pool.facts.nic_driver != "doca-ofed" for pool in reading.pools):
        yield wrong(path, version, "says nothing: every pool has the inbox driver; leave it out")


def _validation_image(reading: Reading) -> Iterator[Mistake]:
    if reading.settings.validation.mode != "off":
        image = reading.settings.validation.image
        yield from architecture(("validation", "image"), image, reading.infiniband_pools)


def _pool_images(pool: PoolReading) -> Iterator[Mistake]:
    """Images of the pool's workloads."""
    if pool.infiniband:
        for place, image in enumerate(pool.given.images):
            yield from architecture(pool.path("images", place), image, [pool])


def _built_for(image: str) -> Architecture | None:
    """The one architecture that an image is known to be built for, by the table, else by a word in its name."""
    for architecture, parts in _KNOWN.items():
        if any(part in image.lower() for part in parts):
            return architecture
    named = re.search(rf"(?<![a-z0-9])({'|'.join(_NAMED)})(?![a-z0-9])", image)
    return _NAMED[named[1]] if named else None


def architecture(path: Path, image: str | None, pools: list[PoolReading]) -> Iterator[Mistake]:
    """At most one mistake, for the first pool that cannot run the image, by the architecture in the image's name."""
    built_for = _built_for(image or "")
    for pool, size in known(pools, lambda pool: pool.facts.size):
        if built_for and size.architecture != built_for:
            reason = (
                f"is built for {built_for}, and pool {pool.name} ({size.name}) is {size.architecture}: "
                "give one that is built for both"
            )
            yield wrong(path, image, reason)
            return


STACK = (_nic_driver_version, _validation_image)
POOL = (_pool_images,)
