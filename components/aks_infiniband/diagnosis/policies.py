"""Findings about the operators' policies and the networks over InfiniBand."""

from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.view import Finding, Object, View, describe, name_of

_MOVING: Final = frozenset(("ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin"))
"""Sections of which a node takes one, from either kind of policy."""
_ONLY_NAME: Final = {"NicClusterPolicy": "; the Network Operator reads no name but nic-cluster-policy"}


def policy_findings(view: View, kind: str) -> list[Finding]:
    """The state of a NicClusterPolicy or ClusterPolicy, and which of its parts are not ready."""
    policies = [policy for policy in view.policies if policy.get("kind") == kind]
    if not policies:
        return [Finding(what=f"there is no {kind} in the cluster", command=f"kubectl get {kind.lower()}s")]
    return [_policy(policy) for policy in policies if policy.get("status", {}).get("state") != "ready"]


def _policy(policy: Object) -> Finding:
    status = policy.get("status") or {}
    kind = policy["kind"]
    state = status.get("state")
    if state == "ignore":
        return Finding(
            what=f"{kind} {name_of(policy)}: state ignore ({status.get('reason') or 'no reason given'})",
            cause="somebody else made it" + _ONLY_NAME.get(kind, "") + ", and its leftovers may be in the way of ours",
            command=f"kubectl delete {kind.lower()} {name_of(policy)} (once nobody needs it)",
        )
    if not state:
        return Finding(
            what=f"{kind} {name_of(policy)} has no status yet",
            cause="its operator is not running" + _ONLY_NAME.get(kind, ""),
            command=describe(kind.lower(), policy),
        )
    parts = [_part(part) for part in status.get("appliedStates") or [] if part.get("state") in ("notReady", "error")]
    conditions = [
        f"{held['type']}={held['status']} {held.get('message', '')}".rstrip()
        for held in status.get("conditions") or []
        if held.get("message")
    ]
    reason = str(status.get("reason") or "")
    detail = "; ".join(text for text in (*parts, *conditions, reason) if text)
    return Finding(
        what=f"{kind} {name_of(policy)}: state {state}" + (f" ({detail})" if detail else ""),
        command=f"kubectl get {kind.lower()} {name_of(policy)} -o yaml",
    )


def _part(part: Mapping[str, Any]) -> str:
    return f"{part.get('name')}: {part.get('state')} {part.get('message') or ''}".rstrip()


def doubled_section_findings(view: View) -> list[Finding]:
    """Sections that the NicClusterPolicy and a NicNodePolicy both have.

    The operator refuses that only where its admission webhook is on; else a node gets two driver pods, of which one
    stays Pending (Mellanox/network-operator v26.4.1, docs/heterogeneous-cluster-support.md). It happens when
    pools that differed become alike: Pulumi deletes last what has left the program, here the NicNodePolicy.
    """
    shared = [policy.get("spec") or {} for policy in view.policies if policy.get("kind") == "NicClusterPolicy"]
    findings = []
    for policy in view.policies:
        own = (policy.get("spec") or {}).keys() & _MOVING if policy.get("kind") == "NicNodePolicy" else ()
        if doubled := sorted(key for key in own if any(key in spec for spec in shared)):
            what = (
                f"NicNodePolicy {name_of(policy)} has {', '.join(doubled)}, and so has the NicClusterPolicy: its nodes "
                "are to run both"
            )
            cause = "the pools agree by now, and the NicNodePolicy has to go first"
            command = f"kubectl delete nicnodepolicy {name_of(policy)}, then pulumi up"
            findings.append(Finding(what=what, cause=cause, command=command))
    return findings


def network_findings(view: View, name: str) -> list[Finding]:
    """The state of an IPoIBNetwork and of the IPPool of the same name."""
    findings = []
    for network in view.networks:
        if network["metadata"]["name"] != name:
            continue
        status = network.get("status") or {}
        if network.get("kind") == "IPoIBNetwork" and status.get("state") != "ready":
            what = f"IPoIBNetwork {name}: state {status.get('state') or 'none'} {status.get('reason') or ''}".rstrip()
            cause = None if status else "the Network Operator has not looked at it: is it running?"
            findings.append(Finding(what=what, cause=cause, command=describe("ipoibnetwork", network)))
        if network.get("kind") == "IPPool" and not status.get("allocations"):
            what = f"IPPool {name_of(network)} has given no node a block of addresses"
            cause = "NV-IPAM's controller is not running, or the pool's node selector matches no node"
            findings.append(Finding(what=what, cause=cause, command=describe("ippool", network)))
    return findings
