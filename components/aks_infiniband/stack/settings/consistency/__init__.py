"""The rules for values that have to go together, a module for each topic. A rule yields what is wrong.

A rule is for the stack as a whole (a module's STACK) or for one pool (its POOL). A rule ends if it reads a value that
is not well-formed, so each rule reads little.
"""

from collections.abc import Iterator
from contextlib import suppress

from aks_infiniband.handwritten.section import Unreadable
from aks_infiniband.stack.settings.consistency import (
    amd_gpu_operator,
    claims,
    cluster,
    existing_operators,
    gpus,
    images,
    machines,
    networks,
    pools,
    releases,
    scheduling,
    validation,
    versions,
)
from aks_infiniband.stack.settings.mistakes import Mistake
from aks_infiniband.stack.settings.reading import Reading

_TOPICS = (
    *(cluster, releases, networks, pools, machines, images, gpus, existing_operators, amd_gpu_operator),
    *(claims, scheduling, validation, versions),
)


def check(reading: Reading) -> Iterator[Mistake]:
    """The contradictions in a stack file."""
    for topic in _TOPICS:
        rules = [rule(reading) for rule in topic.STACK]
        rules += [rule(pool) for rule in topic.POOL for pool in reading.pools]
        for mistakes in rules:
            with suppress(Unreadable):
                yield from mistakes
