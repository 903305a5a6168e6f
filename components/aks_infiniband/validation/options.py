"""What a caller decides about a validation: mode, image, limits and thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.bounds import PollSeconds, StableSeconds, TimeoutSeconds, Tries, keep_bounds
from aks_infiniband.validation.payload.look.counters import Unread

Sweep = Literal["short", "full"]
Through = Literal["nccl", "pytorch"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationOptions:
    """How a pool is validated."""

    mode: Literal["enforce", "warn", "off"] = "enforce"
    """enforce: a failed check fails the update; warn: it is reported; off: nothing is checked."""
    image: str | None = None
    """Image with Python 3, and for pools with GPUs NCCL and the CUDA runtime, or PyTorch. RDMA tools that it lacks, and
    in the default image for GPUs Python, are installed at start from the distribution's packages: where nodes do not
    reach them, name one that has it all. Default: by pool, see docs/validation.md."""
    timeout_seconds: TimeoutSeconds = 1800
    """Limit of one pool's check once its nodes are ready."""
    tries: Tries = 3
    """How often a measurement that fails is made in all, 1 to 3."""
    sweep: Sweep = "short"
    """Message sizes of the all-reduce. short: five, up to the one that is judged; full: 8 B to 16 GiB by twos."""
    all_reduce: Through = "nccl"
    """What all-reduce is measured through. nccl: NCCL itself (on AMD GPUs RCCL); pytorch: PyTorch's distributed
    package over it, with what a training job adds to small messages."""
    error_counters: Unread = "warn"
    """What becomes of a pool whose ports' error counters cannot be read. enforce: it fails; warn: that is reported;
    off: they are not looked at, and pods mount nothing of the machine's /sys, where a policy allows no hostPath."""
    thresholds: Mapping[str, GivenThreshold] = field(default_factory=dict)
    """Bounds that replace the catalogue's, by figure, such as rdma-write-bandwidth."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number that is out of bounds."""
        keep_bounds(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """How the pods wait for all nodes of the pool to be ready, in seconds."""

    poll_seconds: PollSeconds = 10
    """Time between two looks."""
    stable_seconds: StableSeconds = 30
    """For so long all nodes must offer their resources before they count as ready."""
    timeout_seconds: TimeoutSeconds = 2700
    """Limit of the wait."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number that is out of bounds."""
        keep_bounds(self)
