"""The behaviour of a rehearsal if the RDMA tools of pods are real ones, in a virtual machine (docs/real-tools.md)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES

from rehearsal.machines.rdma_tools.real import SOCKET
from rehearsal.real_tools.image import image
from rehearsal.real_tools.pods import HCAS_A_NODE, NODES
from rehearsal.stack.stack_file import NAMESPACE, StackFileError, opened, put, section

NO_THRESHOLDS: Final = "thresholds of RDMA figures: real tools measure Soft-RoCE, for which no figure is promised"
NO_FAULTS: Final = "TOOLS=real goes without faults: they are those of simulated tools"
_ANY_FIGURE: Final = {
    **{f"rdma-{figure}": {"fail": 1e-6} for figure in ("write-bandwidth", "read-bandwidth", "ping-pong-throughput")},
    **{f"rdma-{figure}": {"fail": 9e8} for figure in ("read-latency", "ping-pong-latency")},
}
"""Thresholds that every figure of RDMA meets. The thresholds are there because a threshold must have a bound."""
_REAL_TOOLS_SECONDS: Final = 1200
"""Real seconds, which a validation on real tools may take on a busy machine; on an idle one it takes one minute."""
_ROOM: Final = f"{NODES} machines of at most {HCAS_A_NODE} HCAs each"


def are_in(run: Path) -> bool:
    """True if the data centre of a run folder has real tools."""
    return (run / SOCKET).exists()


def check(document: Mapping[str, Any], *, faults: Path | None, clusters: int) -> None:
    """Before anything starts: whether real tools can be had for a stack file, and for what it is rehearsed with.

    Makes the virtual machine's image if it is not there yet. Raises StackFileError, UnavailableError.
    """
    if faults is not None:
        raise StackFileError(NO_FAULTS)
    if clusters > 1:
        raise StackFileError("TOOLS=real goes without more than one cluster: there is one virtual machine")
    _check_room(document)
    image()


def with_real_tools(document: dict[str, Any]) -> dict[str, Any]:
    """The document that the engine reads if the pods' tools are real ones, in a virtual machine.

    Soft-RoCE's figures on an emulated processor are unknown, so figures of RDMA lack thresholds; and tools take longer
    there.
    """
    config = dict(document["config"])
    limit = (section(config, "validation") or {}).get("timeoutSeconds", _REAL_TOOLS_SECONDS)
    longer = max(limit, _REAL_TOOLS_SECONDS) if isinstance(limit, int | float) else limit
    figures = (section(config, "validation") or {}).get("thresholds") or {}
    unjudged = {**figures, **_ANY_FIGURE} if isinstance(figures, dict) else figures
    put(config, "validation", {"timeoutSeconds": longer, "thresholds": unjudged})
    return {**document, "config": config}


def _check_room(document: Mapping[str, Any]) -> None:
    config = document.get("config", {})
    pools = [*_list(config.get(f"{NAMESPACE}:pools")), *_list((section(config, "existingCluster") or {}).get("pools"))]
    hcas_of = {name: size.infiniband.hca_count for name, size in SIZES.items()} | _described(config)
    machines = 0
    for pool in pools:
        name, count = str(pool.get("vmSize")), pool.get("count")
        hcas = hcas_of.get(name)
        if hcas is None:
            continue
        machines += count if isinstance(count, int) else 0
        if hcas > HCAS_A_NODE:
            raise StackFileError(f"TOOLS=real: {name} has {hcas} HCAs; the virtual machine has {_ROOM}")
    if machines > NODES:
        asked = f"the stack has {machines} machines with InfiniBand"
        raise StackFileError(f"TOOLS=real: {asked}; the virtual machine has {_ROOM}")


def _described(config: Mapping[str, Any]) -> dict[str, int]:
    """The number of HCAs of machines of the sizes that the stack file describes, as far as they are well-formed."""
    sizes = section(config, "sizes") or {}
    fabrics = {name: size.get("infiniband") for name, size in sizes.items() if isinstance(size, dict)}
    counts = {name: fabric.get("hcaCount") for name, fabric in fabrics.items() if isinstance(fabric, dict)}
    return {name: count for name, count in counts.items() if isinstance(count, int)}


def _list(value: Any) -> list[dict[str, Any]]:
    items = opened(value)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
