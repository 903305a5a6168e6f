"""The damage and the risks of an upgrade, said before it begins: pure."""

from collections.abc import Iterator, Sequence
from typing import Final

from aks_infiniband.facts.kubernetes import UBUNTU_IS_2404_SINCE, minor_of
from aks_infiniband.facts.releases import Release

from aks_infiniband_cli.azure.cluster import ClusterThere
from aks_infiniband_cli.machine_by_machine.upgrade.hold import MANAGER
from aks_infiniband_cli.machine_by_machine.upgrade.plan import Step
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of

_MANAGED_BY: Final = "app.kubernetes.io/managed-by"


def breaks(there: ClusterThere, steps: Sequence[Step], release: Release) -> Iterator[str]:
    """Facts to know about the steps."""
    for step in steps:
        if step.kind == "control plane":
            yield "control plane: the API server is away for moments; AKS takes no version back"
            for unnamed in release.unnamed(str(step.target.kubernetes)):
                yield f"operators: {unnamed}, so NVIDIA has not tested them with {step.target.kubernetes}"
        elif there.pools[step.name].system:
            pods = "both operators' controllers and CoreDNS among them"
            yield f"pool {step.name}: its pods move, {pods}; with one machine they are away until it is back"
        if (pool := there.pools.get(step.name)) is not None:
            yield from _of_system(step, pool.version, pool.os_sku)
    if any(step.kind == "measured pool" for step in steps):
        yield (
            "InfiniBand machines: what is on the OS disk goes (images, emptyDir, hostPath), and the Node object is "
            "made again, without the labels and annotations that were set by hand; OFED and GPU driver are built for "
            "the kernel of the new image, 3 to 19 minutes a machine"
        )


def _of_system(step: Step, version: str, os_sku: str) -> Iterator[str]:
    if step.target.kubernetes and os_sku == "Ubuntu":
        before, after = minor_of(version), minor_of(step.target.kubernetes)
        if before < UBUNTU_IS_2404_SINCE <= after:
            yield (
                f"pool {step.name}: Ubuntu is 24.04 with containerd 2 then, and 22.04 with containerd 1.7 now: the "
                "drivers are others. The GPU Operator installs the driver for one system on all GPU nodes. While "
                "other machines have the other system, the first machine may get none, and the upgrade stops there"
            )


def blocking(budgets: Sequence[Object], pods: Sequence[Object], nodes: Sequence[Object]) -> Iterator[str]:
    """Budgets of others that let no pod on these nodes go: AKS waits for 30 minutes, and stops."""
    names = set(map(name_of, nodes))
    here = [pod for pod in pods if (pod.get("spec") or {}).get("nodeName") in names]
    for budget in budgets:
        metadata, spec = budget["metadata"], budget["spec"]
        if (metadata.get("labels") or {}).get(_MANAGED_BY) == MANAGER:
            continue
        wanted = ((spec.get("selector") or {}).get("matchLabels") or {}).items()
        allowed = (budget.get("status") or {}).get("disruptionsAllowed") or 0
        held = [
            pod["metadata"]["name"]
            for pod in here
            if pod["metadata"]["namespace"] == metadata["namespace"]
            and wanted <= (pod["metadata"].get("labels") or {}).items()
        ]
        if held and not allowed:
            yield (
                f"budget {metadata['namespace']}/{metadata['name']} lets no pod go now, and {held[0]} is on a machine "
                "that is drained: AKS waits for it for 30 minutes, then the upgrade stops"
            )
