"""A cluster for tests of `aks-infiniband rollout`: nodes with drivers, and an operator that rolls another one out."""

import copy
from typing import Any

from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS, Driver
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import Node

OLD, NEW = "nvcr.io/nvidia/driver:old", "nvcr.io/nvidia/driver:new"
SECTIONS = {"nic": "ofedDriver", "gpu": "driver"}
"""The section with the upgrade policy: `.spec` of NicClusterPolicy and of ClusterPolicy."""


def driver_pod(driver: Driver, on: str, image: str, revision: str) -> dict[str, Any]:
    key, value = driver.pods
    labels = {key: value, "controller-revision-hash": revision}
    owner = {"kind": "DaemonSet", "name": "driver", "controller": True}
    metadata = {"name": f"driver-{on}", "namespace": "an-operator", "labels": labels, "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"nodeName": on, "containers": [{"image": image}]}}


def daemon_set(name: str, generation: int, strategy: str = "RollingUpdate") -> dict[str, Any]:
    owner = {"kind": "ClusterPolicy", "name": "cluster-policy", "uid": "1", "controller": True}
    metadata = {"name": name, "namespace": "an-operator", "generation": generation, "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"updateStrategy": {"type": strategy}}}


class Item:
    """An object as the client gives it."""

    def __init__(self, document: Any) -> None:
        self.document = document

    def to_dict(self) -> Any:
        return copy.deepcopy(self.document)


class Cluster:
    """Nodes, pods and one policy. Once nodes are held, the operator gives every other node the new driver."""

    def __init__(self, *nodes: Any, driver: str = "nic", automatic: bool = True, fails: bool = False) -> None:
        self.driver = DRIVERS[driver]
        self.nodes = {item["metadata"]["name"]: item for item in nodes}
        self.drivers = dict.fromkeys(self.nodes, (OLD, "template-1"))
        self.new = (NEW, "template-2")
        self.others: list[Any] = []
        self.later: list[Any] = []
        """Pods that come when the driver has changed."""
        self.daemon_sets = [daemon_set("driver", 1, "OnDelete"), daemon_set("device-plugin", 1)]
        self.daemon_sets_later = [daemon_set("driver", 2, "OnDelete"), daemon_set("device-plugin", 1)]
        self.policy = {"spec": {SECTIONS[driver]: {"upgradePolicy": {"autoUpgrade": automatic}}}}
        self.fails = fails

    def pods(self) -> list[Any]:
        return [*self.others, *(driver_pod(self.driver, name, *has) for name, has in self.drivers.items())]

    def list(self, kind: Any, **_: Any) -> Any:
        if kind in self.driver.policies:
            return [self.policy]
        if kind is DaemonSet:
            return list(map(Item, self.daemon_sets))
        return list(map(Item, self.nodes.values() if kind is Node else self.pods()))

    def get(self, _: Any, name: str) -> Item:
        """A look at a node takes time: the operator has continued."""
        if self.fails:
            self.nodes[name]["metadata"]["labels"][self.driver.state] = "upgrade-failed"
        else:
            self.roll()
        return Item(self.nodes[name])

    def roll(self) -> None:
        self.others, self.daemon_sets = self.later, self.daemon_sets_later
        for name, item in self.nodes.items():
            if item["metadata"]["labels"].get(self.driver.skip) == "true":
                item["metadata"]["labels"][self.driver.state] = "upgrade-required"
            else:
                self.drivers[name] = self.new

    def patch(self, _: Any, name: str, change: Any) -> None:
        metadata = self.nodes[name].setdefault("metadata", {})
        for part in ("labels", "annotations"):
            merged = {**metadata.get(part, {}), **change["metadata"].get(part, {})}
            metadata[part] = {key: value for key, value in merged.items() if value is not None}

    def held(self) -> set[str]:
        """The nodes that the operator passes over."""
        labels = {name: item["metadata"]["labels"] for name, item in self.nodes.items()}
        return {name for name, has in labels.items() if has.get(f"{self.driver.prefix}.skip") == "true"}
