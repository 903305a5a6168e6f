"""IPoIBNetwork: the operator writes the NetworkAttachmentDefinition that it stands for."""

import json
from typing import Final

from rehearsal.operators.plan import Document, Plan, Snapshot, owned

_CNI_VERSION: Final = "0.3.1"
_LAST_NAMESPACE: Final = "operator.ipoibnetwork.mellanox.com/last-network-namespace"
"""The one annotation that the operator leaves on an IPoIBNetwork, whatever annotations it has from others
(Mellanox/network-operator v26.4.1, pkg/state/state_ipoib_network.go).
"""


def attachment(network: Document) -> Document:
    """NetworkAttachmentDefinition of an IPoIBNetwork; the address configuration is handed on unchanged.

    Raises ValueError when `ipam` is not JSON.
    """
    spec = network.get("spec") or {}
    name = network["metadata"]["name"]
    try:
        ipam = json.loads(spec.get("ipam") or "{}")
    except json.JSONDecodeError as error:
        raise ValueError(f"spec.ipam of IPoIBNetwork {name} is not JSON: {error}") from error
    config = {
        "cniVersion": _CNI_VERSION,
        "name": name,
        "type": "ipoib",
        **({"master": spec["master"]} if spec.get("master") else {}),
        "ipam": ipam,
    }
    document = {
        "apiVersion": "k8s.cni.cncf.io/v1",
        "kind": "NetworkAttachmentDefinition",
        "metadata": {"name": name},
        "spec": {"config": json.dumps(config)},
    }
    return owned(document, network, namespace=spec.get("networkNamespace") or "default")


def reconcile_networks(plan: Plan, snapshot: Snapshot) -> None:
    """Every IPoIBNetwork gets its attachment and names its place."""
    for network in snapshot.of("IPoIBNetwork"):
        try:
            document = attachment(network)
        except ValueError as error:
            plan.set_status(network, {"state": "error", "reason": str(error)})
            continue
        metadata = document["metadata"]
        left = {_LAST_NAMESPACE: metadata["namespace"]}
        if network["metadata"].get("annotations") != left:
            plan.annotations.append((network, left))
        wanted = f"{metadata['namespace']}/{metadata['name']}"
        for old in snapshot.of("NetworkAttachmentDefinition"):
            owners = old["metadata"].get("ownerReferences") or ()
            here = f"{old['metadata']['namespace']}/{old['metadata']['name']}"
            if here != wanted and any(owner["uid"] == network["metadata"]["uid"] for owner in owners):
                plan.deletions.append(old)
        plan.include([document], snapshot)
        if snapshot.holds(document):
            made = f"k8s.cni.cncf.io/v1/namespaces/{metadata['namespace']}/{document['kind']}/{metadata['name']}"
            plan.set_status(network, {"state": "ready", "ipoibNetworkAttachmentDef": made})
        else:
            plan.set_status(network, {"state": "notReady"})
