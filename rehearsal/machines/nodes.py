"""A machine's node: the labels and extended resources that the pods on it bring about, kept in step with them."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from rehearsal.machines.behaviour_pods import Effects
from rehearsal.machines.behaviours import Effect
from rehearsal.machines.cluster import Cluster, Document, insist
from rehearsal.machines.device_plugins import CONFIG_KEY, OfferedResource, PluginConfigError, gpus, shared_rdma, sriov
from rehearsal.machines.feature_discovery import WORKER_CONFIG_KEY, built_in_labels, features_of, gpu_labels
from rehearsal.machines.feature_rules import LABEL_NAMESPACE, labels_of_rules
from rehearsal.machines.hardware import Hardware, hardware_of

log = logging.getLogger(__name__)

MACHINE_ANNOTATION: Final = "rehearsal.aks-infiniband/machine"
_RESOURCES_ANNOTATION: Final = "rehearsal.aks-infiniband/device-plugin-resources"
# NFD's master keeps its own record here, by the same name.
_LABELS_ANNOTATION: Final = "nfd.node.kubernetes.io/feature-labels"
_SETTLE_SECONDS: Final = 0.05

_hardware = cache(hardware_of)


def machine_hardware(node: Mapping[str, Any]) -> Hardware | None:
    """What is plugged into a node's machine, from its annotation; None for a node that is no simulated machine."""
    metadata = node["metadata"]
    annotation = (metadata.get("annotations") or {}).get(MACHINE_ANNOTATION)
    if annotation is None:
        return None
    try:
        facts = json.loads(annotation)
        return _hardware(size=facts["size"], machine=metadata["name"], fabric=facts["fabric"])
    except (ValueError, KeyError, TypeError) as error:
        log.error("node %s: annotation %s is %r (%r)", metadata["name"], MACHINE_ANNOTATION, annotation, error)
        return None


def mounted_file(pod: Mapping[str, Any], config_maps: Mapping[tuple[str, str], Document], path: str) -> str | None:
    """The text of a file that a ConfigMap volume of the pod holds under this path, or None."""
    for volume in pod["spec"].get("volumes") or []:
        source = volume.get("configMap")
        if source is None:
            continue
        data = config_maps.get((pod["metadata"]["namespace"], source["name"]), {}).get("data") or {}
        items = source.get("items")
        files = data if items is None else {item["path"]: data.get(item["key"]) for item in items}
        if files.get(path) is not None:
            return str(files[path])
    return None


@dataclass
class Machines:
    """Every simulated machine: what its device plugins offer, and its node kept so."""

    cluster: Cluster
    effects: Effects
    log_port: int
    """Where the API server reads container logs, on loopback."""
    _complaints: set[str] = field(default_factory=set)

    def offered(self, node: str, hardware: Hardware) -> list[OfferedResource]:
        """What the device plugins that run on a node offer there."""
        offers: list[OfferedResource] = []
        for pod in self._pods(node, "sharedRdmaDevices"):
            offers += self._read(pod, lambda config, _: shared_rdma(config, hardware))
        for pod in self._pods(node, "sriovDevices"):
            offers += self._read(pod, lambda config, prefix: sriov(config, hardware, default_prefix=prefix))
        if self.effects.holds(node, "gpuDevices"):
            offers += gpus(hardware)
        return offers

    async def keep(self) -> None:
        """Keep all nodes in step until cancelled."""
        while True:
            for node in list(self.cluster.nodes.values()):
                hardware = machine_hardware(node)
                if hardware is not None and not node["metadata"].get("deletionTimestamp"):
                    try:
                        await self._keep_node(node, hardware)
                    except ApiError as error:  # a label that Kubernetes refuses, from somebody's rule
                        log.error("node %s is not kept in step: %s", node["metadata"]["name"], error)
            await self.cluster.changed()
            await asyncio.sleep(_SETTLE_SECONDS)  # what changes together is answered together

    async def _keep_node(self, node: Document, hardware: Hardware) -> None:
        name = node["metadata"]["name"]
        if endpoint := endpoint_patch(node, self.log_port):
            await insist(
                lambda: self.cluster.client.patch(Node.Status, name, endpoint, patch_type=PatchType.STRATEGIC),
                what=f"endpoint of node {name}",
            )
        labels = self._labels(node, hardware)
        if labels is not None and (patch := label_patch(node, labels)):
            await insist(
                lambda: self.cluster.client.patch(Node, name, patch, patch_type=PatchType.MERGE),
                what=f"labels of node {name}",
            )
            log.info("node %s: feature labels changed: %s", name, ", ".join(sorted(patch["metadata"]["labels"])))
        counts = {offer.name: offer.count for offer in self.offered(name, hardware)}
        resources = resource_patch(node, counts)
        if resources:
            # The record first: what is offered must be found again, to be withdrawn, by the next process too.
            record = {
                "metadata": {"annotations": {_RESOURCES_ANNOTATION: ",".join(sorted(_known(node) | set(counts)))}}
            }
            await insist(
                lambda: self.cluster.client.patch(Node, name, record, patch_type=PatchType.MERGE),
                what=f"annotations of node {name}",
            )
            await insist(
                lambda: self.cluster.client.patch(Node.Status, name, {"status": resources}, patch_type=PatchType.MERGE),
                what=f"resources of node {name}",
            )
            log.info("node %s: extended resources %s", name, resources["allocatable"])

    def _labels(self, node: Document, hardware: Hardware) -> dict[str, str] | None:
        """The labels that feature discovery gives, or None while it does not run: then they stay as they are."""
        name = node["metadata"]["name"]
        workers = self._pods(name, "nodeFeatures")
        if not workers or not self.effects.holds_anywhere("featureMaster"):
            return None
        features = features_of(hardware, node["status"].get("nodeInfo") or {}, name)
        config = mounted_file(workers[0], self.cluster.config_maps, WORKER_CONFIG_KEY) or ""
        labels = built_in_labels(features, config)
        labels |= labels_of_rules(self.cluster.feature_rules.values(), features)
        if self.effects.holds(name, "gpuFeatures"):
            labels |= gpu_labels(hardware)
        return labels

    def _pods(self, node: str, effect: Effect) -> list[Document]:
        wanted = set(self.effects.pods(node, effect))
        return [pod for pod in self.cluster.pods.values() if pod["metadata"]["uid"] in wanted]

    def _read(self, pod: Document, read: Callable[[str, str], list[OfferedResource]]) -> list[OfferedResource]:
        config = mounted_file(pod, self.cluster.config_maps, CONFIG_KEY)
        try:
            if config is None:
                raise PluginConfigError(f"no ConfigMap volume of the pod holds {CONFIG_KEY}")
            return read(config, _resource_prefix(pod))
        except PluginConfigError as error:
            complaint = f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']} offers nothing: {error}"
            if complaint not in self._complaints:
                self._complaints.add(complaint)
                log.error("%s", complaint)
            return []


def endpoint_patch(node: Mapping[str, Any], port: int) -> Document:
    """The strategic merge patch that leads the API server to the log server; empty when the node's status does."""
    status = node.get("status") or {}
    endpoint = (status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}
    # An address of the one type that the API server is told to use, so that it never dials out of this computer.
    address = {"type": "InternalDNS", "address": "localhost"}
    if endpoint.get("Port") == port and address in (status.get("addresses") or []):
        return {}
    return {"status": {"addresses": [address], "daemonEndpoints": {"kubeletEndpoint": {"Port": port}}}}


def label_patch(node: Mapping[str, Any], wanted: Mapping[str, str]) -> Document:
    """The merge patch that gives a node these feature labels and takes back earlier ones; empty when it has them."""
    metadata = node["metadata"]
    recorded = (metadata.get("annotations") or {}).get(_LABELS_ANNOTATION, "")
    earlier = {name if "/" in name else f"{LABEL_NAMESPACE}/{name}" for name in recorded.split(",") if name}
    present = metadata.get("labels") or {}
    changes: dict[str, str | None] = {name: value for name, value in wanted.items() if present.get(name) != value}
    changes |= dict.fromkeys(sorted((earlier - set(wanted)) & set(present)))
    record = ",".join(sorted(name.removeprefix(f"{LABEL_NAMESPACE}/") for name in wanted))
    if not changes and record == recorded:
        return {}
    return {"metadata": {"labels": changes, "annotations": {_LABELS_ANNOTATION: record}}}


def resource_patch(node: Mapping[str, Any], offered: Mapping[str, int]) -> Document:
    """The merge patch of the status that offers these resources, and 0 of those offered earlier; empty when it does."""
    wanted = dict.fromkeys(_known(node), "0") | {name: str(count) for name, count in offered.items()}
    status = node.get("status") or {}
    if all(
        (status.get(kind) or {}).get(name) == value
        for kind in ("capacity", "allocatable")
        for name, value in wanted.items()
    ):
        return {}
    return {"capacity": wanted, "allocatable": wanted}


def _known(node: Mapping[str, Any]) -> set[str]:
    recorded = (node["metadata"].get("annotations") or {}).get(_RESOURCES_ANNOTATION, "")
    return {name for name in recorded.split(",") if name}


def _resource_prefix(pod: Mapping[str, Any]) -> str:
    """The flag --resource-prefix of sriov-network-device-plugin, or its default."""
    arguments: Iterable[str] = (
        argument for container in pod["spec"]["containers"] for argument in container.get("args") or []
    )
    return next(
        (one.removeprefix("--resource-prefix=") for one in arguments if one.startswith("--resource-prefix=")),
        "intel.com",
    )
