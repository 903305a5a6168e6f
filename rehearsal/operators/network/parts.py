"""The common features of all parts of a policy: images, selectors of their nodes, and labels of nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from rehearsal.operators.plan import Document, labels_of, without_empty
from rehearsal.operators.workloads import REQUESTS

NIC_LABEL: Final = "feature.node.kubernetes.io/pci-15b3.present"
OFED_WAIT_LABEL: Final = "network.nvidia.com/operator.mofed.wait"
OS_LABEL: Final = "feature.node.kubernetes.io/system-os_release.ID"
OS_VERSION_LABEL: Final = "feature.node.kubernetes.io/system-os_release.VERSION_ID"
KERNEL_LABEL: Final = "feature.node.kubernetes.io/kernel-version.full"
OWNER_LABEL: Final = "ds-owner"
CLUSTER_POLICY_OWNER: Final = "NicClusterPolicy"
AFTER_OFED: Final = {NIC_LABEL: "true", OFED_WAIT_LABEL: "false"}
"""Node selector of pods that may only run on nodes with the OFED driver."""
_GPU_TOLERATION: Final = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
"""The operator adds it to every DaemonSet, in addition to the policy's own."""


_DRIVER_TOLERATIONS: Final = (
    _GPU_TOLERATION,
    *(
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute"}
        for key in ("not-ready", "unreachable")
    ),
    *(
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoSchedule"}
        for key in ("disk-pressure", "memory-pressure", "pid-pressure", "unschedulable", "network-unavailable")
    ),
)
"""Taints that the operator counts as tolerated when it looks for nodes that need a driver (pkg/state/state_ofed.go
of 26.4.1, addDefaultDaemonSetTolerations): a node that is tainted not-ready:NoSchedule is not among them."""


class PolicyError(ValueError):
    """A part of the policy that nothing can be made of; its text goes into the policy's status."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """The sources of the parts, without their own section."""

    spec: Document
    """Specification of the NicClusterPolicy or NicNodePolicy."""
    nodes: Sequence[Document]
    """The nodes that the policy is about."""
    operator_env: Mapping[str, str]
    """Environment that the chart gave the operator's container."""
    owner: str = CLUSTER_POLICY_OWNER
    """Value of the label ds-owner."""
    suffix: str = ""
    """Behind the name of everything that is made: a dash and the NicNodePolicy's name."""

    @property
    def fields(self) -> dict[str, str]:
        """The values for the holes in the table of workloads."""
        return {
            "suffix": self.suffix,
            "owner": self.owner,
            "binaries": self.operator_env.get("CNI_BIN_DIR", "/opt/cni/bin"),
            "networks": self.operator_env.get("CNI_NETWORK_DIR", "/etc/cni/net.d"),
        }

    @property
    def nodes_with_nic(self) -> list[Document]:
        """Nodes that feature discovery has seen an NVIDIA network adapter in."""
        return [node for node in self.nodes if labels_of(node).get(NIC_LABEL) == "true"]

    def tolerates(self, node: Document) -> bool:
        """True if the policy tolerates every taint of a node, with what the operator adds for its driver."""
        tolerated = [*(self.spec.get("tolerations") or []), *_DRIVER_TOLERATIONS]
        return all(any(_covers(toleration, taint) for toleration in tolerated) for taint in _taints(node))

    def image(self, name: str, section: Document, *, suffix: str = "") -> str:
        """Image reference of a section; repository and version may come from `global`.

        Raises PolicyError when either is in neither place.
        """
        common = self.spec.get("global") or {}
        parts = {key: section.get(key) or common.get(key) for key in ("repository", "version")}
        missing = [key for key, value in parts.items() if not value]
        if missing:
            raise PolicyError(f"{name}: {' and '.join(missing)} missing; set it there or in spec.global")
        return f"{parts['repository']}/{section['image']}:{parts['version']}{suffix}"

    def pull_secrets(self, section: Document) -> list[Document]:
        """Pull secrets of a section, or those of `global`."""
        names = section.get("imagePullSecrets") or (self.spec.get("global") or {}).get("imagePullSecrets") or []
        return [{"name": name} for name in names]

    def on_nodes(
        self,
        section: Document,
        *,
        selector: Mapping[str, str] = MappingProxyType({}),
        critical: bool = False,
        host_network: bool = True,
    ) -> Document:
        """The fields of a DaemonSet's pod that select its nodes. critical: no node may lack it for another's sake."""
        affinity = self.spec.get("nodeAffinity")
        return without_empty(
            {
                "nodeSelector": {**selector, **(self.spec.get("nodeSelector") or {})},
                "affinity": {"nodeAffinity": affinity} if affinity else None,
                "tolerations": [*(self.spec.get("tolerations") or []), _GPU_TOLERATION],
                "imagePullSecrets": self.pull_secrets(section),
                "priorityClassName": "system-node-critical" if critical else None,
                "hostNetwork": host_network or None,
            }
        )


def _taints(node: Document) -> list[Document]:
    return (node.get("spec") or {}).get("taints") or []


def _covers(toleration: Document, taint: Document) -> bool:
    """Kubernetes, "Taints and Tolerations": without key or effect it covers any."""
    if toleration.get("effect") not in {None, "", taint["effect"]}:
        return False
    if toleration.get("key") not in {None, "", taint["key"]}:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")


def resources(section: Document, container: str) -> Document:
    """Requests and limits that the policy sets for a container by its name."""
    for entry in section.get("containerResources") or ():
        if entry["name"] == container:
            return without_empty({"requests": entry.get("requests"), "limits": entry.get("limits")})
    return REQUESTS


def config_volume(name: str, config_map_name: str, key: str, mount: str) -> tuple[Document, Document]:
    """A volume with one key of a ConfigMap, and its mount."""
    volume = {"name": name, "configMap": {"name": config_map_name, "items": [{"key": key, "path": key}]}}
    return volume, {"name": name, "mountPath": mount}
