"""The drivers that NVIDIA's two operators take from node to node, and how each is recognised, held back and changed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from aks_infiniband.diagnosis.ownership import is_over, operators_pods
from aks_infiniband.facts.driver_upgrades import GPU, NIC, skip_label, state_label
from aks_infiniband.resources.metadata import GPU_OPERATOR_NAMESPACE, NETWORK_OPERATOR_NAMESPACE
from lightkube import Client
from lightkube.generic_resource import GenericGlobalResource, create_global_resource
from lightkube.resources.apps_v1 import ControllerRevision

from aks_infiniband_cli.cluster import refusal_allowed
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Object

_REVISION: Final = "controller-revision-hash"
"""Label of a DaemonSet's pod, by which NVIDIA's library sees, too, that a template has changed: the driver, or what an
operator puts around it."""


class Loaded(NamedTuple):
    """The source of the driver that a node has."""

    image: str
    revision: str
    """Revision of the DaemonSet's template."""
    namespace: str
    """The operator's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Driver:
    """A driver in a container. Both operators roll it out with NVIDIA's one library, k8s-operator-libs."""

    name: str
    operator: str
    pods: tuple[str, str]
    """Label of its pods."""
    prefix: str
    """Prefix of the node labels that the library reads and writes."""
    policies: Sequence[type[GenericGlobalResource]]
    section: str
    """Section of a policy's spec with the driver's upgrade policy."""
    setting: str
    """The stack's setting that names its version."""
    update: str
    """The command that updates the resource with the version, and nothing else. A whole update would measure the pool
    too, and its pods and those of this command would wait for each other's nodes.
    """
    other: str
    """The driver of nodes that no operator serves."""
    namespace: str
    """Namespace of the operator, if the stack has installed it."""

    @property
    def skip(self) -> str:
        """Node label: `true` has the operator pass the node over."""
        return skip_label(self.prefix)

    @property
    def state(self) -> str:
        """Node label: how far the node's upgrade is."""
        return state_label(self.prefix)

    def loaded(self, pods: Iterable[Object]) -> dict[str, Loaded]:
        """By node, what brought its driver."""
        label, value = self.pods
        by_node = {}
        for pod in pods:
            labels = pod["metadata"].get("labels") or {}
            if labels.get(label) == value and "deletionTimestamp" not in pod["metadata"] and not is_over(pod):
                image = str(pod["spec"]["containers"][0]["image"])
                revision, namespace = str(labels.get(_REVISION)), str(pod["metadata"]["namespace"])
                by_node[str(pod["spec"].get("nodeName"))] = Loaded(image, revision, namespace)
        return by_node

    def newest_revision(self, client: Client, pods: Sequence[Object]) -> str | None:
        """The revision of the newest template of the DaemonSet that brought a driver's pod; None if it is not there."""
        drivers = [pod for pod in pods if self.loaded([pod])]
        owners = {owner["uid"] for pod in drivers for owner in pod["metadata"].get("ownerReferences") or []}
        places = {pod["metadata"]["namespace"] for pod in drivers}
        revisions = [each.to_dict() for place in places for each in client.list(ControllerRevision, namespace=place)]
        own = [
            each for each in revisions if owners & {by["uid"] for by in each["metadata"].get("ownerReferences") or []}
        ]
        newest = max(own, key=lambda each: int(each["revision"]), default=None)
        return str(newest["metadata"]["labels"][_REVISION]) if newest else None

    def own_pods(self, pods: Sequence[Object], namespace: str | None, operators: Collection[str] = ()) -> list[Object]:
        """The operator's pods. With a pod that looks like the driver's every user could have another driver accepted
        that was not measured, or have a rollout refused.

        namespace: the operator's, if a person has said it. Else that in which the stack installs it, else the only
        one of `operators`, their namespaces, with such pods. Raises CommandError if that leaves several.
        """
        theirs = operators_pods(pods, operators)
        places = sorted({each.namespace for pod in theirs for each in self.loaded([pod]).values()})
        chosen = namespace or (self.namespace if self.namespace in places else None)
        if chosen is None and len(places) > 1:
            raise CommandError(
                f"pods with the label {self.pods[0]} of the {self.operator}'s driver are in namespaces "
                f"{', '.join(places)}: --operator-namespace says which is the operator's"
            )
        return [pod for pod in pods if pod["metadata"].get("namespace") == (chosen or "".join(places))]

    def rolls_by_itself(self, client: Client) -> bool:
        """True if a policy in the cluster says that the operator rolls a changed driver out node by node."""
        policies = [dict(policy) for kind in self.policies for policy in _listed(client, kind)]
        drivers = [(policy.get("spec") or {}).get(self.section) or {} for policy in policies]
        return any((driver.get("upgradePolicy") or {}).get("autoUpgrade") for driver in drivers)


def _listed(client: Client, kind: type[GenericGlobalResource]) -> list[Any]:
    """None if the cluster does not know the kind: another release's, or another operator's."""
    with refusal_allowed(HTTPStatus.NOT_FOUND):
        return list(client.list(kind))
    return []


_NIC: Final = Driver(
    name="nic",
    operator="Network Operator",
    pods=("nvidia.com/ofed-driver", ""),
    prefix=NIC,
    policies=(
        create_global_resource("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies"),
        create_global_resource("mellanox.com", "v1alpha1", "NicNodePolicy", "nicnodepolicies"),
    ),
    section="ofedDriver",
    setting="networkOperator.driverVersion",
    update="`pulumi up --target '**rdma-nic-*'`",
    other="the nodes have the inbox driver",
    namespace=NETWORK_OPERATOR_NAMESPACE,
)
_GPU: Final = Driver(
    name="gpu",
    operator="GPU Operator",
    pods=("app.kubernetes.io/component", "nvidia-driver"),
    prefix=GPU,
    policies=(create_global_resource("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies"),),
    section="driver",
    setting="gpuOperator.driverVersion",
    update="`pulumi up --target '**:Release::rdma-gpu-operator'`",
    other="AKS or the node image brings the GPUs' driver",
    namespace=GPU_OPERATOR_NAMESPACE,
)
DRIVERS: Final[Mapping[str, Driver]] = {driver.name: driver for driver in (_NIC, _GPU)}
"""The labels of pods: Network Operator 26.4.1; GPU Operator 26.3.3, assets/state-driver/0500_daemonset.yaml."""
