"""Reads a cluster once, with get, list and the logs of pods; it changes nothing, and is never interactive."""

import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.diagnosis.asks import asks_of
from aks_infiniband.diagnosis.collect import Reader
from aks_infiniband.diagnosis.ownership import trusted_namespaces
from aks_infiniband.diagnosis.view import Object, View, condition, is_device_plugin, name_of
from aks_infiniband.facts.words import REFUSALS, found_in
from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.resources.metadata import PART_OF, SYSTEM_NAMESPACE
from aks_infiniband.validation.reports import check_verdicts, report_in
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.admissionregistration_v1 import (
    MutatingWebhookConfiguration,
    ValidatingWebhookConfiguration,
)
from lightkube.resources.apps_v1 import Deployment, ReplicaSet, StatefulSet
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Event, Namespace, Pod, ResourceQuota
from lightkube.resources.discovery_v1 import EndpointSlice

from aks_infiniband_cli.cluster import connected
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.doctor.looks.device_plugins import idle_nodes
from aks_infiniband_cli.doctor.looks.operands import is_watched, operator_namespaces
from aks_infiniband_cli.doctor.snapshot import Snapshot

LIMIT_SECONDS: Final = 120.0
"""Limit for the reading; everything that is not read by then is named."""
_LOG_LINES: Final = 60
_MOST_LOGS: Final = 40
_CONFIGURATIONS: Final = ("rdma-devices", "network-operator-sriovdp-config")
"""Prefixes of the names of the device plugins' ConfigMaps; if pools differ, the pool's name is behind it."""
_TELLING: Final = ("FailedCreatePodSandBox", "FailedPrepareDynamicResources", "FailedCreate")
"""Reasons of the events that are read."""
_NODE_POLICY: Final = create_global_resource("mellanox.com", "v1alpha1", "NicNodePolicy", "nicnodepolicies")
_ATTACHMENT: Final = create_namespaced_resource(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions"
)
_GPU_CLUSTER: Final = create_global_resource("nvidia.com", "v1alpha1", "GPUCluster", "gpuclusters")
"""Kind of GPU Operator 26.7, in place of a ClusterPolicy (NVIDIA/gpu-operator pull request 2572; the version is
assumed).
"""
_OTHERS: Final[tuple[tuple[str, Any, dict[str, Any]], ...]] = (
    ("namespaces", Namespace, {}),
    ("GPUClusters", _GPU_CLUSTER, {}),
    ("NetworkAttachmentDefinitions", _ATTACHMENT, {"namespace": "*"}),
    ("ReplicaSets", ReplicaSet, {"namespace": "*", "chunk_size": 500}),
    ("StatefulSets", StatefulSet, {"namespace": "*", "chunk_size": 500}),
    ("ResourceQuotas", ResourceQuota, {"namespace": "*"}),
    ("ValidatingWebhookConfigurations", ValidatingWebhookConfiguration, {}),
    ("MutatingWebhookConfigurations", MutatingWebhookConfiguration, {}),
)
"""Kinds that only the doctor looks at."""


_KINDS: Final = {_ATTACHMENT: "NetworkAttachmentDefinition", _GPU_CLUSTER: "GPUCluster"}
"""Names of the kinds without a separate class."""


def read(kubeconfig: str, *, namespace: str = SYSTEM_NAMESPACE, limit_seconds: float = LIMIT_SECONDS) -> Snapshot:
    """The cluster of a kubeconfig, as YAML with one context. Raises CommandError if it gives no nodes.

    namespace: of the validations.
    """
    view = View()
    snapshot = Snapshot(read_at=datetime.now(tz=UTC), view=view, validations_in=namespace)
    reader = Reader(client=connected(kubeconfig), deadline=time.monotonic() + limit_seconds, unread=view.unread)
    reader.cluster(view)
    if not view.nodes:
        raise CommandError(_no_nodes(view))
    reader.read("pods", view.pods, Pod, namespace="*", chunk_size=500)
    reader.read("Deployments", view.deployments, Deployment, namespace="*", chunk_size=500)
    reader.read("Jobs", view.jobs, Job, namespace="*", chunk_size=500)
    for what, kind, chosen in _OTHERS:
        _read_others(reader, snapshot, what, kind, chosen)
    if not reader.read("NicNodePolicies", [], _NODE_POLICY):
        snapshot.undefined.append("NicNodePolicy")
    for reason in _TELLING:
        reader.read(f"events {reason}", view.events, Event, namespace="*", fields={"reason": reason})
    _read_configurations(reader, snapshot)
    _read_logs(reader, snapshot)
    return snapshot


def _no_nodes(view: View) -> str:
    """The reason for the missing answer; if the API server does not take the login, the remedy."""
    why = view.unread[0] if view.unread else "the cluster has none"
    refused = found_in(why, REFUSALS)
    if refused and refused.id == "login-expired":
        helps = "log in again (az login, or the kubeconfig's own way)"
        return (
            f"no node could be read: the login has expired, or the cluster no longer takes it; {helps}. Answer: {why}"
        )
    return f"no node could be read: {why}"


def _read_others(reader: Reader, snapshot: Snapshot, what: str, kind: Any, chosen: dict[str, Any]) -> None:
    """Lists of the API server leave the kind of their items out."""
    objects: list[Object] = []
    if reader.read(what, objects, kind, **chosen):
        name = _KINDS.get(kind, kind.__name__)
        snapshot.others.extend({**item, "kind": name} for item in objects)


def _read_configurations(reader: Reader, snapshot: Snapshot) -> None:
    """The device plugins' ConfigMaps, our validation's reports, the records of Helm's releases, and who answers for
    the services of webhooks.
    """
    view = snapshot.view
    _name_kinds(snapshot)
    for namespace in sorted(operator_namespaces(snapshot)):
        config_maps: list[Object] = []
        reader.read(f"ConfigMaps in {namespace}", config_maps, ConfigMap, namespace=namespace)
        view.config_maps += [item for item in config_maps if item["metadata"]["name"].startswith(_CONFIGURATIONS)]
        reader.releases(f"Helm's records in {namespace}", view, namespace)
    own = snapshot.validations_in
    validations: list[Object] = []
    reader.read(f"reports of validations in {own}", validations, ConfigMap, namespace=own, labels=PART_OF)
    view.config_maps += _with_readable_reports(validations, view.unread)
    for namespace in sorted({service["namespace"] for _, _, service in snapshot.webhook_services()}):
        chosen = {"namespace": namespace}
        _read_others(reader, snapshot, f"EndpointSlices in {namespace}", EndpointSlice, chosen)
    _name_kinds(snapshot)


def _read_logs(reader: Reader, snapshot: Snapshot) -> None:
    """The rank of a pod's log: drivers and operators first, then ours, then workloads on this hardware. No other log
    matters.
    """
    operators = operator_namespaces(snapshot) | trusted_namespaces(snapshot.view)
    idle = idle_nodes(snapshot)

    def rank(pod: Object) -> int | None:
        if pod["metadata"].get("namespace") in operators:
            serves = is_device_plugin(pod) and condition(pod, "Ready").get("status") == "True"
            return None if serves and pod["spec"].get("nodeName") not in idle else 0
        if is_watched(pod, snapshot, operators):
            return 1
        return 2 if asks_of(pod).hardware else None

    reader.logs(snapshot.view, lines=_LOG_LINES, most=_MOST_LOGS, rank=rank)


def _with_readable_reports(config_maps: Iterable[Object], unread: list[str]) -> Iterator[Object]:
    """The ConfigMaps whose report can be read, or that are without one."""
    for config_map in config_maps:
        report = report_in(config_map)
        try:
            if report is not None:
                check_verdicts(report)
            yield config_map
        except HandwrittenError as error:
            unread.append(f"the report in ConfigMap {name_of(config_map)}: {error.at_its_place()}")


def _name_kinds(snapshot: Snapshot) -> None:
    """Lists of the API server leave the kind of their items out."""
    view = snapshot.view
    kinds: Iterable[tuple[list[Any], str]] = (
        (view.nodes, "Node"),
        (view.pods, "Pod"),
        (view.daemon_sets, "DaemonSet"),
        (view.deployments, "Deployment"),
        (view.jobs, "Job"),
        (view.config_maps, "ConfigMap"),
        (view.events, "Event"),
    )
    for items, kind in kinds:
        for item in items:
            item.setdefault("kind", kind)
