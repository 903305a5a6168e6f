"""A caller's choices for a validation: mode, image, limits and thresholds."""

from typing import Annotated, Literal

from pydantic import Field

from aks_infiniband.facts import rules
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.bounds import BurnInMinutes, TimeoutSeconds, Tries
from aks_infiniband.facts.rules import Text
from aks_infiniband.handwritten.section import Section
from aks_infiniband.validation.payload.look.counters import Unread

Sweep = Literal["short", "full"]


class ValidationOptions(Section):
    """The check at the end of `pulumi up`."""

    mode: Literal["enforce", "warn", "off"] = "enforce"
    """enforce: a failed check fails the update; warn: it is reported; off: nothing is checked."""
    image: Annotated[str, rules.image] | None = None
    """Image with Python 3 and, for pools with GPUs, NCCL and the CUDA runtime. RDMA tools that it lacks are installed
    at start from the distribution's packages, and so is Python in the default image for GPUs. If nodes do not reach the
    packages, name an image that has everything. Default: by pool, see docs/validation.md.
    """
    timeout_seconds: TimeoutSeconds = Field(default=1800, strict=True)
    """Time limit of one pool's check, which begins when its nodes are ready. Before that the Job waits for the nodes,
    for up to readiness.timeoutSeconds, so `pulumi up` waits for the Job as long as both limits together.
    """
    tries: Tries = Field(default=3, strict=True)
    """The most tries of a measurement before its failure counts."""
    sweep: Sweep = "short"
    """Message sizes of the all-reduce. short: five, up to the one that is judged; full: 8 B to 16 GiB by twos, a few
    minutes more."""
    burn_in: BurnInMinutes | None = Field(default=None, strict=True)
    """For how many minutes all GPUs of a pool are loaded at once, in place of some seconds: cooling that fails shows
    only then. timeoutSeconds has to be 600, and 120 more for each of these minutes, at least."""
    error_counters: Unread = "warn"
    """The consequence if the error counters of a port cannot be read. enforce: the verdict is "not measured", which
    fails the update, and the scheduled check fails the node. warn: the report says so and nothing fails, because all
    other measurements were good. off: the counters are not read, and pods mount nothing of the machine's /sys; use it
    for clusters whose policies forbid hostPath.
    """
    thresholds: dict[Text, GivenThreshold] = Field(default_factory=dict)
    """Bounds that replace the catalogue's for every pool of the stack, by figure, such as rdma-write-bandwidth."""
