"""Reads what a diagnosis looks at; never writes, never raises, never takes longer than it may."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx2
from lightkube import Client
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.apps_v1 import DaemonSet, Deployment
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Event, Namespace, Node, Pod
from lightkube.resources.resource_v1 import DeviceClass, ResourceSlice

from aks_infiniband.access.client import connect
from aks_infiniband.diagnosis.logs import Rank, any_pod, telling_logs
from aks_infiniband.diagnosis.repairs import SOURCE
from aks_infiniband.diagnosis.view import Object, View, name_of
from aks_infiniband.resources.metadata import NETWORK_OPERATOR_NAMESPACE, PART_OF

_LOG_LINES: Final = 15
_MOST_LOGS: Final = 6
_MOST_NAMES: Final = 3
"""The number of pods that are named when their logs are not read."""
_METADATA_ONLY: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""The form of answer that is requested if an object's content must stay private (Kubernetes, "API Concepts", Alternate
representations).
"""

_NOT_STARTED: Final = ("FailedCreatePodSandBox", "FailedPrepareDynamicResources")
_TELLING: Final = ("FailedScheduling", "Scheduled", *_NOT_STARTED, "FailedCreate")
"""Reasons of the events that are read."""
_CLUSTER_POLICY: Final = create_global_resource("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies")
_NIC_POLICIES: Final = (
    create_global_resource("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies"),
    create_global_resource("mellanox.com", "v1alpha1", "NicNodePolicy", "nicnodepolicies"),
)
_POLICIES: Final = (*_NIC_POLICIES, _CLUSTER_POLICY)
_DEVICE_CONFIG: Final = create_namespaced_resource("amd.com", "v1alpha1", "DeviceConfig", "deviceconfigs")
_IPOIB_NETWORK: Final = create_global_resource("mellanox.com", "v1alpha1", "IPoIBNetwork", "ipoibnetworks")
_IP_POOL: Final = create_namespaced_resource("nv-ipam.nvidia.com", "v1alpha1", "IPPool", "ippools")


def collect(kubeconfig: str, namespaces: Sequence[str], *, limit_seconds: float) -> View:
    """Look at the cluster of a kubeconfig; what cannot be read within the limit is named in the view's `unread`.

    namespaces: whose pods, Deployments, Jobs, ConfigMaps and releases matter; nodes, policies and DaemonSets are read
    everywhere.
    """
    view = View()
    try:
        reader = Reader(client=connect(kubeconfig), deadline=time.monotonic() + limit_seconds, unread=view.unread)
    except Exception as error:  # whatever a broken kubeconfig brings: the engine's own error must not be hidden by ours
        view.unread.append(f"the kubeconfig: {type(error).__name__}: {error}")
        return view
    reader.cluster(view)
    configuration = "the device plugins' configuration"
    reader.read(configuration, view.config_maps, ConfigMap, namespace=NETWORK_OPERATOR_NAMESPACE)
    for namespace in namespaces:
        _read_namespace(namespace, view, reader)
    reader.logs(view)
    return view


def absent_kinds(
    kubeconfig: str, api: str, kinds: Mapping[str, str], *, limit_seconds: float, namespaced: bool = True
) -> tuple[list[str], list[str]]:
    """The kinds of an API that the cluster does not know, and the reason why the cluster could not be read within the
    limit.

    kinds: with their plurals, all of them namespaced or none.
    """
    group, version = api.split("/")
    unread: list[str] = []
    create = create_namespaced_resource if namespaced else create_global_resource
    where = {"namespace": "default"} if namespaced else {}
    known = {kind: create(group, version, kind, plural) for kind, plural in kinds.items()}
    try:
        client = connect(kubeconfig, request_seconds=limit_seconds)
        reader = Reader(client=client, deadline=time.monotonic() + limit_seconds, unread=unread)
    except Exception as error:  # as above
        return [], [f"the kubeconfig: {type(error).__name__}: {error}"]
    return [name for name, kind in known.items() if not reader.read(name, [], kind, **where)], unread


def cluster_policies(kubeconfig: str, *, limit_seconds: float) -> tuple[list[Object], list[str]]:
    """The GPU Operator's policies, and the reason why a cluster could not be read within the limit."""
    policies, unread = _listed(kubeconfig, _CLUSTER_POLICY, limit_seconds)
    return [{"kind": _CLUSTER_POLICY.__name__, **policy} for policy in policies], unread


def nic_policies(kubeconfig: str, *, limit_seconds: float) -> tuple[list[Object], list[str]]:
    """The Network Operator's policies, and the reason why a cluster could not be read within the limit."""
    every: list[Object] = []
    unread: list[str] = []
    for kind in _NIC_POLICIES:
        policies, reasons = _listed(kubeconfig, kind, limit_seconds)
        every += [{"kind": kind.__name__, **policy} for policy in policies]
        unread += reasons
    return every, unread


def infiniband_offers(
    kubeconfig: str, *, limit_seconds: float
) -> tuple[list[Object], list[Object], list[Object], list[str]]:
    """The objects that hand HCAs to pods in addition to device plugins: IPoIBNetworks, ResourceSlices and
    DeviceClasses, and the reason why a cluster could not be read within the limit.
    """
    listed = [_listed(kubeconfig, kind, limit_seconds) for kind in (_IPOIB_NETWORK, ResourceSlice, DeviceClass)]
    networks, slices, classes = (objects for objects, _ in listed)
    return networks, slices, classes, [reason for _, reasons in listed for reason in reasons]


def nodes(kubeconfig: str, *, limit_seconds: float) -> tuple[list[Object], list[str]]:
    """The nodes of a cluster, and the reason why it could not be read within the limit."""
    return _listed(kubeconfig, Node, limit_seconds)


def namespaces(kubeconfig: str, *, limit_seconds: float) -> tuple[list[Object], list[str]]:
    """The namespaces of a cluster, and the reason why it could not be read within the limit."""
    return _listed(kubeconfig, Namespace, limit_seconds)


def _listed(kubeconfig: str, kind: Any, limit_seconds: float) -> tuple[list[Object], list[str]]:
    items: list[Object] = []
    unread: list[str] = []
    try:
        client = connect(kubeconfig, request_seconds=limit_seconds)
    except Exception as error:  # as above
        return [], [f"the kubeconfig: {type(error).__name__}: {error}"]
    Reader(client=client, deadline=time.monotonic() + limit_seconds, unread=unread).read(kind.__name__, items, kind)
    return items, unread


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """Reads until a moment, and notes what it could not read."""

    client: Client
    deadline: float
    """In the clock of time.monotonic."""
    unread: list[str]

    def read(self, what: str, into: list[Object], kind: Any, **chosen: Any) -> bool:
        """List the objects of a kind. Returns whether the API server knows the kind, as far as that was seen."""
        if time.monotonic() > self.deadline:
            self.unread.append(f"{what}: no time left")
            return True
        try:
            into.extend(item.to_dict() for item in self.client.list(kind, **chosen))
        except Exception as error:
            absent = isinstance(error, httpx2.HTTPStatusError) and error.response.status_code == httpx2.codes.NOT_FOUND
            if absent:
                return False
            self.unread.append(f"{what}: {type(error).__name__}: {error}")
        return True

    def cluster(self, view: View) -> None:
        """Read what matters in every namespace: nodes and their repairs, DaemonSets, policies and networks."""
        self.read("nodes", view.nodes, Node)
        self.read("events of AKS's repairs", view.events, Event, namespace="*", fields={"source": SOURCE})
        self.read("DaemonSets", view.daemon_sets, DaemonSet, namespace="*")
        for policy in _POLICIES:
            self.read(policy.__name__, view.policies, policy)
        self.read("DeviceConfigs", view.policies, _DEVICE_CONFIG, namespace="*")
        self.read("IPoIBNetworks", view.networks, _IPOIB_NETWORK)
        self.read("IPPools", view.networks, _IP_POOL, namespace="*")

    def releases(self, what: str, view: View, namespace: str) -> None:
        """Read what the records of Helm's releases are labelled with; what they keep never leaves the API server."""
        if time.monotonic() > self.deadline:
            self.unread.append(f"{what}: no time left")
            return
        path = f"/api/v1/namespaces/{namespace}/secrets"
        try:
            # lightkube takes no headers for a list.
            http = self.client._client._client
            answer = http.get(path, params={"labelSelector": "owner=helm"}, headers={"Accept": _METADATA_ONLY})
            if answer.is_error and "json" in answer.headers.get("Content-Type", ""):
                raise ApiError(request=answer.request, response=answer)
            answer.raise_for_status()
            view.release_secrets += [
                {"kind": "Secret", "metadata": item["metadata"]} for item in answer.json()["items"] or ()
            ]
        except Exception as error:
            self.unread.append(f"{what}: {type(error).__name__}: {error}")

    def logs(self, view: View, *, lines: int = _LOG_LINES, most: int = _MOST_LOGS, rank: Rank = any_pod) -> None:
        """Read the logs that say most (`telling_logs`), and name how many were left out.

        most: logs in all. rank: of a pod, 0 for what matters most; None for a pod whose log does not matter.
        """
        telling = telling_logs(view.pods, rank)
        if len(telling) > most:
            names = ", ".join(name_of(pod) for pod, _ in telling[most : most + _MOST_NAMES])
            more = " and others" if len(telling) > most + _MOST_NAMES else ""
            self.unread.append(f"the logs of {len(telling) - most} more pods, for {most} are read: {names}{more}")
        for pod, container in telling[:most]:
            if time.monotonic() > self.deadline:
                self.unread.append("the other logs: no time left")
                return
            name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
            try:
                said = self.client.log(name, namespace=namespace, container=container, tail_lines=lines)
                view.logs[name_of(pod)] = "".join(said).rstrip()
            except Exception as error:
                self.unread.append(f"the log of pod {name_of(pod)}: {type(error).__name__}: {error}")


def results_of_run(kubeconfig: str, namespace: str, run: str, config_map: str) -> tuple[list[Object], Object]:
    """The pods of a Job, by its uid, and the ConfigMap that they fill. Raises whatever the API server answers."""
    client = connect(kubeconfig)
    pods = client.list(Pod, namespace=namespace, labels={"batch.kubernetes.io/controller-uid": run})
    return [pod.to_dict() for pod in pods], client.get(ConfigMap, config_map, namespace=namespace).to_dict()


def _read_namespace(namespace: str, view: View, reader: Reader) -> None:
    read = reader.read
    read(f"pods in {namespace}", view.pods, Pod, namespace=namespace)
    read(f"Deployments in {namespace}", view.deployments, Deployment, namespace=namespace)
    read(f"Jobs in {namespace}", view.jobs, Job, namespace=namespace)
    read(f"ConfigMaps in {namespace}", view.config_maps, ConfigMap, namespace=namespace, labels=PART_OF)
    for reason in _TELLING:
        fields = {"reason": reason}
        read(f"events {reason} in {namespace}", view.events, Event, namespace=namespace, fields=fields)
    reader.releases(f"releases in {namespace}", view, namespace)
