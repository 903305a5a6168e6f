"""Reads a cluster once, with get, list and the logs of pods; it changes nothing, and asks no person to log in."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.diagnosis.collect import Reader
from aks_infiniband.diagnosis.view import Object, View
from aks_infiniband.resources.metadata import PART_OF, SYSTEM_NAMESPACE
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Event, Namespace, Pod, Secret

from aks_infiniband_cli.cluster import connected
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.doctor.looks.operands import operator_namespaces
from aks_infiniband_cli.doctor.snapshot import Snapshot

LIMIT_SECONDS: Final = 120.0
"""How long the reading may take; what is not read by then is named."""
_LOG_LINES: Final = 60
_MOST_LOGS: Final = 40
_CONFIGURATIONS: Final = ("rdma-devices", "network-operator-sriovdp-config")
"""How the names of the device plugins' ConfigMaps begin; where pools differ, the pool's name is behind it."""
_HELM: Final[dict[str, Any]] = {"owner": "helm"}
_TELLING: Final = ("FailedCreatePodSandBox", "FailedCreate")
"""Reasons of the events that are read."""
_NODE_POLICY: Final = create_global_resource("mellanox.com", "v1alpha1", "NicNodePolicy", "nicnodepolicies")
_ATTACHMENT: Final = create_namespaced_resource(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions"
)


def read(kubeconfig: str, *, namespace: str = SYSTEM_NAMESPACE, limit_seconds: float = LIMIT_SECONDS) -> Snapshot:
    """The cluster of a kubeconfig, as YAML with one context. Raises CommandError where it gives no nodes.

    namespace: of the validations.
    """
    view = View()
    snapshot = Snapshot(read_at=datetime.now(tz=UTC), view=view, validations_in=namespace)
    reader = Reader(client=connected(kubeconfig), deadline=time.monotonic() + limit_seconds, unread=view.unread)
    reader.cluster(view)
    if not view.nodes:
        raise CommandError(f"no node could be read: {'; '.join(view.unread[:1]) or 'the cluster has none'}")
    reader.read("pods", view.pods, Pod, namespace="*", chunk_size=500)
    reader.read("Deployments", view.deployments, Deployment, namespace="*", chunk_size=500)
    reader.read("namespaces", snapshot.others, Namespace)
    reader.read("NetworkAttachmentDefinitions", snapshot.others, _ATTACHMENT, namespace="*")
    if not reader.read("NicNodePolicies", [], _NODE_POLICY):
        snapshot.undefined.append("NicNodePolicy")
    for reason in _TELLING:
        reader.read(f"events {reason}", view.events, Event, namespace="*", fields={"reason": reason})
    _name_kinds(snapshot)
    _read_configurations(reader, snapshot)
    reader.logs(view, lines=_LOG_LINES, most=_MOST_LOGS)
    return snapshot


def _read_configurations(reader: Reader, snapshot: Snapshot) -> None:
    """The device plugins' ConfigMaps, our validation's reports, and the records of Helm's releases, without data."""
    view = snapshot.view
    for namespace in sorted(operator_namespaces(snapshot)):
        found: list[Object] = []
        reader.read(f"ConfigMaps in {namespace}", found, ConfigMap, namespace=namespace)
        view.config_maps += [item for item in found if item["metadata"]["name"].startswith(_CONFIGURATIONS)]
        secrets: list[Object] = []
        reader.read(f"Helm's records in {namespace}", secrets, Secret, namespace=namespace, labels=_HELM)
        view.release_secrets += [{"kind": "Secret", "metadata": secret["metadata"]} for secret in secrets]
    own = snapshot.validations_in
    reader.read(f"reports of validations in {own}", view.config_maps, ConfigMap, namespace=own, labels=PART_OF)
    _name_kinds(snapshot)


def _name_kinds(snapshot: Snapshot) -> None:
    """Lists of the API server leave the kind of their items out."""
    view = snapshot.view
    kinds: Iterable[tuple[list[Any], str]] = (
        (view.nodes, "Node"),
        (view.pods, "Pod"),
        (view.daemon_sets, "DaemonSet"),
        (view.deployments, "Deployment"),
        (view.config_maps, "ConfigMap"),
        (view.events, "Event"),
        (snapshot.others, "Namespace"),
    )
    for items, kind in kinds:
        for item in items:
            item.setdefault("kind", kind)
