"""Keeps a machine's node in step with the pods on it, which bring about its labels and extended resources."""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lightkube.core.exceptions import ApiError
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from rehearsal.machines.hardware.device_plugins import (
    CONFIG_KEY,
    OfferedResource,
    PluginConfigError,
    gpus,
    shared_rdma,
    sriov,
)
from rehearsal.machines.hardware.inventory import BROKEN_ANNOTATION, Inventory, Machine
from rehearsal.machines.nodes import compute_domains
from rehearsal.machines.nodes.feature_discovery import (
    WORKER_CONFIG_KEY,
    amd_gpu_labels,
    built_in_labels,
    features_of,
    gpu_labels,
)
from rehearsal.machines.nodes.feature_rules import labels_of_rules
from rehearsal.machines.nodes.patches import (
    LOST,
    RESOURCES_ANNOTATION,
    broken_patch,
    endpoint_patch,
    known_resources,
    label_patch,
    resource_patch,
)
from rehearsal.machines.nodes.resource_slices import ResourceSlices, slice_of
from rehearsal.machines.pods.behaviours import Effect
from rehearsal.machines.pods.by_node import PodsByNode
from rehearsal.machines.pods.effects import Effects
from rehearsal.machines.pods.running import now
from rehearsal.watch.cluster import Cluster, Document
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)

_SETTLE_SECONDS: Final = 0.05


def mounted_file(pod: Mapping[str, Any], config_maps: Mapping[tuple[str, str], Document], path: str) -> str | None:
    """Read a file that a ConfigMap volume of the pod holds under this path; None if there is none."""
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
    inventory: Inventory
    log_port: int
    """The port from which the API server reads container logs, on loopback."""
    by_node: PodsByNode
    _complaints: set[str] = field(default_factory=set)

    def offered(self, machine: Machine) -> list[OfferedResource]:
        """The offers of the device plugins that run on a machine."""
        offers: list[OfferedResource] = []
        hardware, modules = machine.hardware, self.effects.modules(machine)
        for pod in self._pods(machine.name, "sharedRdmaDevices"):
            offers += self._read(pod, lambda config, _: shared_rdma(config, hardware, modules))
        for pod in self._pods(machine.name, "sriovDevices"):
            offers += self._read(pod, lambda config, prefix: sriov(config, hardware, modules, default_prefix=prefix))
        if self.effects.provided(machine, "gpuDevices"):
            offers += gpus(hardware)
        if self.effects.holds(machine.name, "amdGpuDevices"):
            offers += gpus(hardware, "amd")
        return offers

    async def keep(self) -> None:
        """Keep all nodes in step until cancelled."""
        while True:
            version = self.cluster.version
            for node in list(self.cluster.of("Node").values()):
                machine = self.inventory.machine(node)
                if machine is not None and not node["metadata"].get("deletionTimestamp"):
                    try:
                        await self._keep_node(node, machine)
                    except ApiError as error:  # a label that Kubernetes refuses, from another's rule
                        log.error("node %s is not kept in step: %s", node["metadata"]["name"], error)
            await self.cluster.changed_since(version)
            await asyncio.sleep(_SETTLE_SECONDS)  # changes that come together are answered once

    async def _keep_broken(self, node: Document) -> None:
        """Mark a node that does not answer, or whose container runtime is down: NotReady, that one for good."""
        name = node["metadata"]["name"]
        marked = (node["metadata"].get("annotations") or {}).get(BROKEN_ANNOTATION)
        if marked == LOST and name not in self.effects.broken:  # it answers again: the rest is kwok's
            await self._mark(name, None)
        patch = broken_patch(node, self.effects.broken.get(name), now())
        if not patch:
            return
        await self._mark(name, self.effects.broken[name])
        await insist(
            lambda: self.cluster.client.patch(Node.Status, name, patch, patch_type=PatchType.STRATEGIC),
            what=f"conditions of node {name}",
        )
        log.error("node %s is NotReady: %s", name, self.effects.broken[name])

    async def _mark(self, node: str, why: str | None) -> None:
        mark = {"metadata": {"annotations": {BROKEN_ANNOTATION: why}}}
        await insist(
            lambda: self.cluster.client.patch(Node, node, mark, patch_type=PatchType.MERGE),
            what=f"annotations of node {node}",
        )

    async def _keep_node(self, node: Document, machine: Machine) -> None:
        name = node["metadata"]["name"]
        await self._keep_broken(node)
        if self.effects.broken.get(name) == LOST:  # a kubelet that says nothing says nothing of its devices either
            return
        if endpoint := endpoint_patch(node, self.log_port):
            await insist(
                lambda: self.cluster.client.patch(Node.Status, name, endpoint, patch_type=PatchType.STRATEGIC),
                what=f"endpoint of node {name}",
            )
        labels = self._labels(node, machine)
        if labels is not None and (patch := label_patch(node, labels)):
            await insist(
                lambda: self.cluster.client.patch(Node, name, patch, patch_type=PatchType.MERGE),
                what=f"labels of node {name}",
            )
            log.info("node %s: feature labels changed: %s", name, ", ".join(sorted(patch["metadata"]["labels"])))
        published = self.effects.holds(name, "draDevices")
        devices = slice_of(node, machine, self.effects.modules(machine))
        await ResourceSlices(self.cluster).keep(devices, published=published)
        if machine.hardware.nvlink is not None:
            there = self.effects.holds(name, "computeDomainDevices")
            channel = compute_domains.slice_of(node, machine)
            await ResourceSlices(self.cluster).keep(channel, published=there)
            await compute_domains.Daemons(self.cluster).keep(machine, self.by_node.on(name))
        counts = {offer.name: offer.count for offer in self.offered(machine)}
        resources = resource_patch(node, counts)
        if resources:
            # The record first: what is offered must be found again, to be withdrawn, by the next process too.
            record = {
                "metadata": {
                    "annotations": {RESOURCES_ANNOTATION: ",".join(sorted(known_resources(node) | set(counts)))}
                }
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

    def _labels(self, node: Document, machine: Machine) -> dict[str, str] | None:
        """The labels that feature discovery gives, or None while it does not run: then they stay as they are."""
        name, hardware = machine.name, machine.hardware
        workers = self._pods(name, "nodeFeatures")
        if not workers or not self.effects.pods_anywhere("featureMaster"):
            return None
        node_info = node["status"].get("nodeInfo") or {}
        features = features_of(hardware, node_info, name, modules=self.effects.modules(machine))
        config = mounted_file(workers[0], self.cluster.of("ConfigMap"), WORKER_CONFIG_KEY) or ""
        labels = built_in_labels(features, config)
        labels |= labels_of_rules(self.cluster.of("NodeFeatureRule").values(), features)
        if self.effects.holds(name, "gpuFeatures"):
            labels |= gpu_labels(hardware)
        if self.effects.holds(name, "amdGpuFeatures"):
            labels |= amd_gpu_labels(hardware)
        return labels

    def _pods(self, node: str, effect: Effect) -> list[Document]:
        wanted = set(self.effects.pods(node, effect))
        return [pod for pod in self.by_node.on(node) if pod["metadata"]["uid"] in wanted]

    def _read(self, pod: Document, read: Callable[[str, str], list[OfferedResource]]) -> list[OfferedResource]:
        config = mounted_file(pod, self.cluster.of("ConfigMap"), CONFIG_KEY)
        try:
            if config is None:
                raise PluginConfigError(f"no ConfigMap volume of the pod holds {CONFIG_KEY}")
            return read(config, _resource_prefix(pod))
        except PluginConfigError as error:
            self._complain(f"pod {pod['metadata']['namespace']}/{pod['metadata']['name']} offers nothing: {error}")
            return []

    def _complain(self, complaint: str) -> None:
        """Log something once."""
        if complaint not in self._complaints:
            self._complaints.add(complaint)
            log.error("%s", complaint)


def _resource_prefix(pod: Mapping[str, Any]) -> str:
    """The flag --resource-prefix of sriov-network-device-plugin, or its default."""
    arguments: Iterable[str] = (
        argument for container in pod["spec"]["containers"] for argument in container.get("args") or []
    )
    return next(
        (
            argument.removeprefix("--resource-prefix=")
            for argument in arguments
            if argument.startswith("--resource-prefix=")
        ),
        "intel.com",
    )
