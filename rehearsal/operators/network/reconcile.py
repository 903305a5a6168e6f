"""The Network Operator: one function from the cluster that it sees to the cluster that a NicClusterPolicy asks for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rehearsal.operators.network.devices import (
    doca_telemetry_service,
    rdma_shared_device_plugin,
    sriov_device_plugin,
)
from rehearsal.operators.network.ipoib import reconcile_networks
from rehearsal.operators.network.networking import cni_part, nic_feature_discovery, nv_ipam
from rehearsal.operators.network.nodes import UPGRADE_LABEL, label_nodes
from rehearsal.operators.network.ofed import OFED_LABEL, ofed_driver
from rehearsal.operators.network.parts import Context, PolicyError
from rehearsal.operators.plan import Doc, Plan, Snapshot, labels_of, owned, sealed, without_empty
from rehearsal.operators.upgrade import roll
from rehearsal.operators.workloads import available, counts

OPERATOR_LABELS: Final = {"app.kubernetes.io/name": "network-operator"}
POLICY_NAME: Final = "nic-cluster-policy"
"""The only name that the operator acts on."""
STATE_LABEL: Final = "nvidia.network-operator.state"
"""Label of everything the operator made for a part, so that it finds what a smaller policy leaves behind."""
WATCHED: Final = (
    "Node",
    "Pod",
    "ConfigMap",
    "DaemonSet",
    "Deployment",
    "ControllerRevision",
    "CustomResourceDefinition",
    "NicClusterPolicy",
    "IPoIBNetwork",
    "NetworkAttachmentDefinition",
)


@dataclass(frozen=True, kw_only=True)
class _Part:
    state: str
    """Name in `.status.appliedStates`."""
    section: tuple[str, ...]
    """Where the policy asks for it."""
    documents: Callable[[Doc, Context], list[Doc]] | None
    """None for a part that no chart definition here lets a policy ask for."""


_PARTS: Final = (
    _Part(
        state="state-multus-cni",
        section=("secondaryNetwork", "multus"),
        documents=cni_part("kube-multus-ds", app="multus", container="kube-multus", init="install-multus-binary"),
    ),
    _Part(
        state="state-container-networking-plugins",
        section=("secondaryNetwork", "cniPlugins"),
        documents=cni_part("cni-plugins-ds", app="cni-plugins", container="cni-plugins"),
    ),
    _Part(
        state="state-ipoib-cni",
        section=("secondaryNetwork", "ipoib"),
        documents=cni_part("kube-ipoib-cni-ds", app="ipoib-cni", container="kube-ipoib-cni"),
    ),
    _Part(state="state-OFED", section=("ofedDriver",), documents=ofed_driver),
    _Part(state="state-SRIOV-device-plugin", section=("sriovDevicePlugin",), documents=sriov_device_plugin),
    _Part(state="state-RDMA-device-plugin", section=("rdmaSharedDevicePlugin",), documents=rdma_shared_device_plugin),
    _Part(state="state-ib-kubernetes", section=("ibKubernetes",), documents=None),
    _Part(state="state-nv-ipam-cni", section=("nvIpam",), documents=nv_ipam),
    _Part(state="state-nic-feature-discovery", section=("nicFeatureDiscovery",), documents=nic_feature_discovery),
    _Part(state="state-doca-telemetry-service", section=("docaTelemetryService",), documents=doca_telemetry_service),
    _Part(state="state-nic-configuration-operator", section=("nicConfigurationOperator",), documents=None),
    _Part(state="state-spectrum-x-operator", section=("spectrumXOperator",), documents=None),
)


def reconcile(snapshot: Snapshot, *, now: str) -> Plan:
    """What the operator would do now; nothing while its own Deployment is not Available."""
    plan = Plan()
    operator = next((d for d in snapshot.of("Deployment", labels=OPERATOR_LABELS) if available(d)), None)
    if operator is None:
        return plan
    policy: Doc | None = None
    for candidate in snapshot.of("NicClusterPolicy"):
        if candidate["metadata"]["name"] != POLICY_NAME:
            reason = f"Unsupported NicClusterPolicy instance {candidate['metadata']['name']}"
            reason += f". Only instance with name {POLICY_NAME} is supported"
            plan.set_status(candidate, {"state": "ignore", "reason": reason})
        elif "deletionTimestamp" not in candidate["metadata"]:
            policy = candidate
    if policy is not None:
        _reconcile_policy(plan, snapshot, policy, operator)
    spec = (policy or {}).get("spec") or {}
    label_nodes(plan, snapshot, with_ofed=None if policy is None else "ofedDriver" in spec)
    reconcile_networks(plan, snapshot)
    return plan


def _reconcile_policy(plan: Plan, snapshot: Snapshot, policy: Doc, operator: Doc) -> None:
    spec = policy.get("spec") or {}
    namespace = operator["metadata"]["namespace"]
    context = Context(spec=spec, nodes=snapshot.of("Node"), operator_env=_environment(operator))
    states: list[Doc] = []
    for part in _PARTS:
        section = _section(spec, part.section)
        documents: list[Doc] = []
        state: Doc = {"name": part.state, "state": "ignore"}
        if section is not None and part.documents is not None:
            try:
                documents = [_placed(d, policy, namespace, part.state) for d in part.documents(section, context)]
                state["state"] = "ready" if documents and _all_ready(documents, snapshot) else "notReady"
            except PolicyError as error:
                state.update(state="error", message=str(error))
        plan.include(documents, snapshot)
        if state["state"] != "error":
            plan.deletions.extend(_left_behind(snapshot, namespace, part.state, documents))
        states.append(state)
    plan.set_status(policy, _status(states))
    ofed = snapshot.of("DaemonSet", namespace=namespace, labels={OFED_LABEL: ""})
    upgrade = (spec.get("ofedDriver") or {}).get("upgradePolicy") or {}
    roll(plan, snapshot, daemon_sets=ofed, label=UPGRADE_LABEL, policy=upgrade)


def _environment(operator: Doc) -> Mapping[str, str]:
    containers = operator["spec"]["template"]["spec"]["containers"]
    return {entry["name"]: entry.get("value", "") for entry in containers[0].get("env") or ()}


def _section(spec: Doc, path: Sequence[str]) -> Doc | None:
    found: Doc | None = spec
    for key in path:
        found = (found or {}).get(key)
    return found


def _placed(document: Doc, policy: Doc, namespace: str, state: str) -> Doc:
    """The document in the operator's namespace and owned by the policy; definitions of resources outlive it."""
    if document["kind"] == "CustomResourceDefinition":
        return sealed(document)
    return owned(document, policy, namespace=namespace, labels={STATE_LABEL: state})


def _all_ready(documents: Sequence[Doc], snapshot: Snapshot) -> bool:
    """DaemonSets have at least one pod, all available and up to date; Deployments are Available.

    A DaemonSet with no node to run on is not ready: the operator cannot tell it from one that was not looked at yet.
    """
    for document in documents:
        metadata = document["metadata"]
        here = snapshot.find(document["kind"], metadata["name"], metadata.get("namespace"))
        if here is None or not snapshot.holds(document):
            return False
        if document["kind"] == "Deployment" and not available(here):
            return False
        if document["kind"] == "DaemonSet":
            pods = counts(here)
            if pods is None or pods[0] == 0 or set(pods) != {pods[0]}:
                return False
    return True


def _left_behind(snapshot: Snapshot, namespace: str, state: str, documents: Sequence[Doc]) -> list[Doc]:
    wanted = {(document["kind"], document["metadata"]["name"]) for document in documents}
    return [
        item
        for kind in ("DaemonSet", "Deployment", "ConfigMap")
        for item in snapshot.of(kind, namespace=namespace, labels={STATE_LABEL: state})
        if (kind, item["metadata"]["name"]) not in wanted and labels_of(item).get(STATE_LABEL) == state
    ]


def _status(states: Sequence[Doc]) -> Doc:
    """The whole is ready when no part is notReady or in error."""
    seen = {state["state"] for state in states}
    whole = "error" if "error" in seen else "notReady" if "notReady" in seen else "ready"
    reason = "; ".join(state["message"] for state in states if state["state"] == "error")
    return without_empty({"state": whole, "reason": reason, "appliedStates": list(states)})
