"""Conditions of a policy's parts, as Network Operator 26.7 writes them (controllers/conditions.go of v26.7.0-rc.2)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rehearsal.operators.plan import Document

_TYPES: Final[Mapping[str, str]] = {
    "state-OFED": "OFEDDriverReady",
    "state-RDMA-device-plugin": "RDMASharedDevicePluginReady",
    "state-SRIOV-device-plugin": "SRIOVDevicePluginReady",
    "state-ib-kubernetes": "IBKubernetesReady",
    "state-multus-cni": "MultusCNIReady",
    "state-container-networking-plugins": "CNIPluginsReady",
    "state-ipoib-cni": "IPoIBCNIReady",
    "state-nv-ipam-cni": "NVIPAMReady",
    "state-nic-feature-discovery": "NICFeatureDiscoveryReady",
    "state-doca-telemetry-service": "DOCATelemetryServiceReady",
    "state-nic-configuration-operator": "NICConfigurationOperatorReady",
    "state-spectrum-x-operator": "SpectrumXOperatorReady",
}
_REASONS: Final = {"ready": "ComponentReady", "notReady": "ComponentNotReady", "error": "ComponentError"}
_WHOLE: Final = {
    "ready": ("AllComponentsReady", ""),
    "notReady": ("ComponentsNotReady", "One or more components are not yet ready"),
    "error": ("ComponentError", "One or more components are in error state"),
}


def conditions_of(policy: Document, states: Sequence[Document], whole: str, now: str) -> list[Document]:
    """Conditions of a policy whose parts are in these states (`.status.appliedStates`), without the parts that it
    lacks.

    whole: the state of all. now: the time, RFC 3339.
    """
    before = {held["type"]: held for held in (policy.get("status") or {}).get("conditions") or ()}
    generation = policy["metadata"].get("generation", 0)

    def conditions() -> Iterator[Document]:
        for state in states:
            if state["state"] in _REASONS:
                yield _condition(
                    _TYPES[state["name"]], state["state"], _REASONS[state["state"]], state.get("message", "")
                )
        reason, message = _WHOLE[whole]
        yield _condition("Ready", whole, reason, message)

    return [
        {**held, "observedGeneration": generation, "lastTransitionTime": _since(held, before.get(held["type"]), now)}
        for held in conditions()
    ]


def _condition(kind: str, state: str, reason: str, message: str) -> Document:
    return {"type": kind, "status": "True" if state == "ready" else "False", "reason": reason, "message": message}


def _since(held: Document, before: Document | None, now: str) -> str:
    """When the status came to be what it is."""
    return str(before["lastTransitionTime"]) if before and before["status"] == held["status"] else now
