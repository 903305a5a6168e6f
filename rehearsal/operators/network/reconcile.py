"""The Network Operator: one function from the cluster that it sees to the cluster that its policies require.

NicClusterPolicy: one, by a fixed name. NicNodePolicy: any number, each with its own nodes (controllers/ of Network
Operator 26.4.1). The admission webhook that would refuse the same section in both is off in the chart
(operator.admissionController.enabled), so both are carried out: a second driver pod stays Pending (anti-affinity).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from rehearsal.operators.network.conditions import conditions_of
from rehearsal.operators.network.driver_upgrade import roll_drivers
from rehearsal.operators.network.ipoib import reconcile_networks
from rehearsal.operators.network.nodes import label_nodes, node_policy_owner, selected_nodes
from rehearsal.operators.network.parts import Context, PolicyError
from rehearsal.operators.network.policy_parts import CLUSTER_PARTS, NODE_PARTS, Part
from rehearsal.operators.plan import Document, Plan, Snapshot, owned, sealed, without_empty
from rehearsal.operators.release import JULY_2026, release_of
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
    "ServiceAccount",
    "DaemonSet",
    "Deployment",
    "ControllerRevision",
    "CustomResourceDefinition",
    "NicClusterPolicy",
    "NicNodePolicy",
    "IPoIBNetwork",
    "NetworkAttachmentDefinition",
)


def reconcile(snapshot: Snapshot, *, now: str) -> Plan:
    """The operator's current plan; nothing while its own Deployment is not Available.

    now: the time, RFC 3339, for waits that end.
    """
    plan = Plan()
    operator = next((d for d in snapshot.of("Deployment", labels=OPERATOR_LABELS) if available(d)), None)
    if operator is None:
        return plan
    policy = _cluster_policy(plan, snapshot)
    node_policies = [
        node_policy
        for node_policy in snapshot.of("NicNodePolicy")
        if "deletionTimestamp" not in node_policy["metadata"]
    ]
    environment = _environment(operator)
    if policy is not None:
        spec = policy.get("spec") or {}
        context = Context(spec=spec, nodes=snapshot.of("Node"), operator_env=environment)
        _reconcile_policy(plan, snapshot, policy, operator, CLUSTER_PARTS, context, now)
    overlap = _overlap(snapshot, node_policies)
    for node_policy in node_policies:
        if overlap:
            before = {key: value for key, value in (node_policy.get("status") or {}).items() if key == "appliedStates"}
            plan.set_status(node_policy, {**before, "state": "error", "reason": overlap})
            continue
        context = Context(
            spec=node_policy.get("spec") or {},
            nodes=selected_nodes(snapshot, node_policy),
            operator_env=environment,
            owner=node_policy_owner(node_policy),
            suffix=f"-{node_policy['metadata']['name']}",
        )
        _reconcile_policy(plan, snapshot, node_policy, operator, NODE_PARTS, context, now)
    label_nodes(plan, snapshot, policy, node_policies)
    roll_drivers(plan, snapshot, policy, node_policies, namespace=operator["metadata"]["namespace"], now=now)
    reconcile_networks(plan, snapshot)
    return plan


def _cluster_policy(plan: Plan, snapshot: Snapshot) -> Document | None:
    """The policy with the name that the operator acts on; every other policy gets the status ignore."""
    policy: Document | None = None
    for candidate in snapshot.of("NicClusterPolicy"):
        if candidate["metadata"]["name"] != POLICY_NAME:
            reason = f"Unsupported NicClusterPolicy instance {candidate['metadata']['name']}"
            reason += f". Only instance with name {POLICY_NAME} is supported"
            plan.set_status(candidate, {"state": "ignore", "reason": reason})
        elif "deletionTimestamp" not in candidate["metadata"]:
            policy = candidate
    return policy


def _overlap(snapshot: Snapshot, node_policies: Sequence[Document]) -> str | None:
    """The nodes that more than one NicNodePolicy selects, in the operator's own words; None if each has at most one."""
    names: dict[str, list[str]] = {}
    for policy in node_policies:
        for node in selected_nodes(snapshot, policy):
            names.setdefault(node["metadata"]["name"], []).append(policy["metadata"]["name"])
    doubly = [
        f'node "{node}" is selected by policies: [{", ".join(sorted(policies))}]'
        for node, policies in sorted(names.items())
        if len(policies) > 1
    ]
    return f"node selector overlap detected: {'; '.join(doubly)}" if doubly else None


def _reconcile_policy(
    plan: Plan,
    snapshot: Snapshot,
    policy: Document,
    operator: Document,
    parts: Sequence[Part],
    context: Context,
    now: str,
) -> None:
    namespace = operator["metadata"]["namespace"]
    states: list[Document] = []
    for part in parts:
        section = _section(context.spec, part.section)
        documents: list[Document] = []
        state: Document = {"name": part.state, "state": "ignore"}
        if section is not None and part.documents is not None:
            try:
                placed = [_placed(d, policy, namespace, part.state) for d in part.documents(section, context)]
                documents = [document for document in placed if not _is_anothers(document, policy, snapshot)]
                state["state"] = "ready" if documents and _all_ready(documents, snapshot) else "notReady"
            except PolicyError as error:
                state.update(state="error", message=str(error))
        plan.include(documents, snapshot)
        if state["state"] != "error":
            plan.deletions.extend(_left_behind(snapshot, policy, namespace, part.state, documents))
        states.append(state)
    status = _status(states)
    if release_of(operator) >= JULY_2026:
        status["conditions"] = conditions_of(policy, states, status["state"], now)
    plan.set_status(policy, status)


def _environment(operator: Document) -> Mapping[str, str]:
    containers = operator["spec"]["template"]["spec"]["containers"]
    return {entry["name"]: entry.get("value", "") for entry in containers[0].get("env") or ()}


def _section(spec: Document, path: Sequence[str]) -> Document | None:
    section: Document | None = spec
    for key in path:
        section = (section or {}).get(key)
    return section


def _placed(document: Document, policy: Document, namespace: str, state: str) -> Document:
    """The document in the operator's namespace and owned by the policy; definitions of resources outlive it."""
    if document["kind"] == "CustomResourceDefinition":
        return sealed(document)
    return owned(document, policy, namespace=namespace, labels={STATE_LABEL: state})


def _all_ready(documents: Sequence[Document], snapshot: Snapshot) -> bool:
    """DaemonSets have at least one pod, all available and up to date; Deployments are Available.

    A DaemonSet without a node to run on is not ready: the operator cannot distinguish it from one that was not looked
    at yet.
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


def _is_anothers(document: Document, policy: Document, snapshot: Snapshot) -> bool:
    """True if another policy has made this object: policies with a driver share its init container's ConfigMap."""
    metadata = document["metadata"]
    here = snapshot.find(document["kind"], metadata["name"], metadata.get("namespace"))
    owners = {owner["uid"] for owner in ((here or {}).get("metadata") or {}).get("ownerReferences") or ()}
    policies = {
        other["metadata"]["uid"] for kind in ("NicClusterPolicy", "NicNodePolicy") for other in snapshot.of(kind)
    }
    return bool(owners & (policies - {policy["metadata"]["uid"]}))


def _left_behind(
    snapshot: Snapshot, policy: Document, namespace: str, state: str, documents: Sequence[Document]
) -> list[Document]:
    """Objects that the policy required earlier and does not require now."""
    wanted = {(document["kind"], document["metadata"]["name"]) for document in documents}
    return [
        item
        for kind in ("DaemonSet", "Deployment", "ConfigMap", "ServiceAccount")
        for item in snapshot.of(kind, namespace=namespace, labels={STATE_LABEL: state})
        if (kind, item["metadata"]["name"]) not in wanted
        and any(owner["uid"] == policy["metadata"]["uid"] for owner in item["metadata"].get("ownerReferences") or ())
    ]


def _status(states: Sequence[Document]) -> Document:
    """The whole is ready when no part is notReady or in error."""
    seen = {state["state"] for state in states}
    whole = "error" if "error" in seen else "notReady" if "notReady" in seen else "ready"
    reason = "; ".join(state["message"] for state in states if state["state"] == "error")
    return without_empty({"state": whole, "reason": reason, "appliedStates": list(states)})
