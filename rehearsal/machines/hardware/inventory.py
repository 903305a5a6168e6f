"""The simulated machine behind each node: its hardware, and what its node image has installed."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from rehearsal.faults.checking import FaultsError
from rehearsal.faults.machine_faults import FILE, concerning, read
from rehearsal.machines.hardware.hardware_faults import faulty
from rehearsal.machines.hardware.metadata import metadata_files
from rehearsal.machines.hardware.model import Hardware, hardware_of
from rehearsal.run.sizes import known_sizes

log = logging.getLogger(__name__)

MACHINE_ANNOTATION: Final = "rehearsal.aks-infiniband/machine"
"""JSON: size, fabric and rack; gpuDriver is the pool's gpuProfile.driver; imageHasDrivers says whether the node image
has DOCA-OFED, GPU driver, container toolkit and device plugin."""

BROKEN_ANNOTATION: Final = "rehearsal.aks-infiniband/broken"
"""Why a node's container runtime is down for good; kwok leaves the conditions of such a node alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """One machine as Azure delivers it."""

    name: str
    hardware: Hardware
    metadata: Mapping[str, str] = field(default_factory=dict)
    """Files of what Azure says of it."""
    host_gpu_driver: bool = False
    """True if the node has NVIDIA's driver and container toolkit without an operator: AKS has installed them
    (gpuProfile.driver Install), or the image has them.
    """
    image_has_drivers: bool = False
    """True if the node image has DOCA-OFED, which openibd has loaded, and services that offer GPUs to pods."""
    refuses_peermem: bool = False
    """True if nvidia_peermem cannot be loaded. With AKS's driver the node image has an empty module, for which modprobe
    says "Invalid argument": 202606.19.0 (NVIDIA/aicr pull request 1840, read 2026-11-23); others assumed.
    """


@dataclass(frozen=True)
class Inventory:
    """The machines of one run."""

    run: Path
    """The run folder, which knows the sizes that the stack file describes."""

    def machine(self, node: Mapping[str, Any]) -> Machine | None:
        """The machine of a node, from its annotation; None for a node that is not a simulated machine."""
        metadata = node["metadata"]
        annotation = (metadata.get("annotations") or {}).get(MACHINE_ANNOTATION)
        if annotation is None:
            return None
        try:
            described, faults = (_stamp(self.run / name) for name in ("sizes.json", FILE))
            return _machine(self.run, described, faults, metadata["name"], annotation)
        except (ValueError, KeyError, TypeError) as error:
            log.error("node %s: annotation %s is %r (%r)", metadata["name"], MACHINE_ANNOTATION, annotation, error)
            return None


def _stamp(file: Path) -> int:
    """The time at which a file was written; 0 if there is none."""
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


@lru_cache(maxsize=4096)
def _machine(run: Path, _described: int, _faults: int, name: str, annotation: str) -> Machine:
    """The arguments say when sizes and faults were last written, so that the cache holds until one of them changes."""
    facts = json.loads(annotation)
    moved = int(facts.get("host", 0))
    metadata = metadata_files(size=facts["size"], machine=name, faults=[], moved=moved)
    known = known_sizes(run)
    hardware = hardware_of(
        size=facts["size"], machine=name, fabric=facts["fabric"], rack=facts.get("rack", 0), sizes=known
    )
    refuses_peermem = False
    try:
        hardware = faulty(hardware, name, run)
        metadata = metadata_files(size=facts["size"], machine=name, faults=read(run), moved=moved)
        refuses_peermem = concerning(read(run), "no-peermem", name) is not None
    except FaultsError as error:
        log.error("the faults of node %s are unreadable: %s", name, error)
    by_aks = facts.get("gpuDriver") == "Install" and hardware.gpu_vendor == "nvidia"
    image_has_drivers = bool(facts.get("imageHasDrivers"))
    return Machine(
        name=name,
        hardware=hardware,
        metadata=metadata,
        host_gpu_driver=by_aks or image_has_drivers,
        image_has_drivers=image_has_drivers,
        refuses_peermem=refuses_peermem or by_aks,
    )
