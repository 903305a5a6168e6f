"""A cluster for `rollout`: nodes with drivers, and an operator that rolls another one out."""

import copy
import io
import json
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from aks_infiniband_cli import cluster as reading
from aks_infiniband_cli.machine_by_machine import measuring
from aks_infiniband_cli.machine_by_machine.rollout import gate
from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS, Driver
from aks_infiniband_cli.machine_by_machine.rollout.hold import MARK
from aks_infiniband_cli.main import main
from aks_infiniband_cli.validate.run import Measured
from lightkube.resources.apps_v1 import ControllerRevision, DaemonSet
from lightkube.resources.core_v1 import Node

from tests.cases import Case
from tests.unit.command_line.validations import kubeconfig_in, node, report, validation
from tests.unit.command_line.validations import pod as usual_pod

OLD, NEW = "nvcr.io/nvidia/driver:old", "nvcr.io/nvidia/driver:new"
SECTIONS = {"nic": "ofedDriver", "gpu": "driver"}
"""The section with the upgrade policy: `.spec` of NicClusterPolicy and of ClusterPolicy."""


def driver_pod(driver: Driver, on: str, image: str, revision: str) -> dict[str, Any]:
    key, value = driver.pods
    labels = {key: value, "controller-revision-hash": revision}
    owner = {"kind": "DaemonSet", "name": "driver", "uid": "driver", "controller": True}
    metadata = {"name": f"driver-{on}", "namespace": "an-operator", "labels": labels, "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"nodeName": on, "containers": [{"image": image}]}}


def daemon_set(name: str, generation: int, strategy: str = "RollingUpdate") -> dict[str, Any]:
    owner = {"kind": "ClusterPolicy", "name": "cluster-policy", "uid": "1", "controller": True}
    metadata = {"name": name, "namespace": "an-operator", "generation": generation, "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"updateStrategy": {"type": strategy}}}


def revision_of(template: str) -> dict[str, Any]:
    """The revision that Kubernetes keeps of a template of the driver's DaemonSet: template-2 is its second."""
    owner = {"kind": "DaemonSet", "name": "driver", "uid": "driver", "controller": True}
    metadata = {"labels": {"controller-revision-hash": template}, "ownerReferences": [owner]}
    return {"metadata": metadata, "revision": int(template.removeprefix("template-"))}


def item(document: Any) -> Any:
    """An object as the client gives it."""
    return SimpleNamespace(to_dict=lambda: copy.deepcopy(document))


class Cluster:
    """Nodes, pods and one policy. Once nodes are held, the operator gives every other node the new driver."""

    def __init__(self, *nodes: Any, driver: str = "nic", automatic: bool = True, fails: bool = False) -> None:
        self.driver = DRIVERS[driver]
        self.nodes = {each["metadata"]["name"]: each for each in nodes}
        self.drivers = dict.fromkeys(self.nodes, (OLD, "template-1"))
        self.new = (NEW, "template-2")
        self.others: list[Any] = []
        self.later: list[Any] = []
        """Pods that come when the driver has changed."""
        self.daemon_sets = [daemon_set("driver", 1, "OnDelete"), daemon_set("device-plugin", 1)]
        self.daemon_sets_later = [daemon_set("driver", 2, "OnDelete"), daemon_set("device-plugin", 1)]
        self.policy = {"spec": {SECTIONS[driver]: {"upgradePolicy": {"autoUpgrade": automatic}}}}
        self.fails = fails
        self.again, self.vanishes, self.measurements = False, False, 0

    def pods(self) -> list[Any]:
        return [*self.others, *(driver_pod(self.driver, name, *has) for name, has in self.drivers.items())]

    def list(self, kind: Any, **_: Any) -> Any:
        if kind in self.driver.policies:
            return [self.policy]
        if kind is DaemonSet:
            return list(map(item, self.daemon_sets))
        if kind is ControllerRevision:
            return [item(revision_of(revision)) for revision in {self.new[1], "template-1"}]
        return list(map(item, self.nodes.values() if kind is Node else self.pods()))

    def get(self, _: Any, name: str) -> Any:
        """A look at a node takes time: the operator has continued."""
        if self.fails:
            self.nodes[name]["metadata"]["labels"][self.driver.state] = "upgrade-failed"
        else:
            self.roll()
        return item(self.nodes[name])

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


def warned(check: str, device: str | None = None) -> dict[str, Any]:
    """A check that warns: drivers differ."""
    kept = {"node": None, "expected": None, "measured": None, "unit": None, "tries": None, "cause": "drivers differ"}
    return {"check": check, "verdict": "warn", "device": device, **kept}


GOOD: Final = report(393.0, warned("versions"))
"""The report while one node has another driver."""
FALLEN: Final = report(196.55, warned("versions"), warned("regression", "rdma-write-bandwidth"))
_WORDS: Final = ("accepted", "first", "driver", "held", "released", "not_held", "shortfalls")


def command(cluster: Cluster, flags: Sequence[str], measured: Any) -> tuple[int, dict[str, Any], str]:
    """The exit code, the document and the words to standard error of a command, and what it measures."""

    def measure(_: Any, runs: Any, __: Any) -> Any:
        (only,) = runs
        assert [item["metadata"]["name"] for item in only.awaited] == [only.nodes[0]["metadata"]["name"]]
        assert len(only.nodes) == 2
        cluster.measurements += 1
        if cluster.measurements == 1 and (cluster.again or cluster.vanishes):
            cluster.new = (f"{NEW}er", "template-3")
        if cluster.measurements == 1 and cluster.vanishes:
            cluster.drivers.pop(only.awaited[0]["metadata"]["name"])
        return {"ndh100": Measured(report=measured)}

    def read(client: Any, _: str) -> Any:
        return {"ndh100": validation()}, [item.to_dict() for item in client.list(Node)], client.pods()

    with ExitStack() as stack, TemporaryDirectory() as folder:
        for module in (gate, reading):
            stack.enter_context(mock.patch.object(module, "connected", return_value=cluster))
        for module in (gate, measuring):
            stack.enter_context(mock.patch.object(module, "read_cluster", read))
        stack.enter_context(mock.patch.object(measuring, "measure", measure))
        stack.enter_context(mock.patch("time.sleep"))
        out, errors = (
            stack.enter_context(redirect_stdout(io.StringIO())),
            stack.enter_context(redirect_stderr(io.StringIO())),
        )
        place = ("--kubeconfig", str(kubeconfig_in(Path(folder))), "--output", "json")
        code = main(["rollout", *place, "--driver", cluster.driver.name, *flags])
        return code, json.loads(out.getvalue() or "{}"), errors.getvalue()


def outcome_of_rollouts(case: Case) -> Any:
    """The answer of one command after another, and the nodes that are held, marked or have the new driver then.

    nodes: their names; `labels`, `marks`: those that others have put on them. `forged`: a tenant's pod looks like the
    driver, in a namespace with a DaemonSet if `made`. `taken`: the node that a tenant gets with the new driver.
    `gone`: the node that a command does not find. `again`: the template changes during the first measurement;
    `vanishes`: and the driver of the first node is deleted for it. `measures`: a bandwidth that is good or has fallen.
    """
    cluster = Cluster(
        *map(node, case["nodes"]),
        driver=case.get("driver", "nic"),
        automatic=case.get("automatic", True),
        fails=case.get("fails", False),
    )
    for name in case.get("labels", ()):
        cluster.nodes[name]["metadata"]["labels"][cluster.driver.skip] = "true"
    for name, mark in case.get("marks", {}).items():
        cluster.nodes[name]["metadata"]["annotations"] = {MARK: mark}
    if "forged" in case:
        forged, made = driver_pod(cluster.driver, "a", NEW, "template-2"), daemon_set("driver", 1)
        forged["metadata"]["namespace"] = made["metadata"]["namespace"] = case["forged"]
        cluster.others = cluster.later = [forged]
        cluster.daemon_sets += [made] if case.get("made") else []
    cluster.again, cluster.vanishes = case.get("again", False), case.get("vanishes", False)
    if "taken" in case:
        cluster.later = [usual_pod("nda100-validate", case["taken"], rdma__shared_ib="1")]
    return [_step(cluster, each) for each in case["commands"]]


def _step(cluster: Cluster, each: Case) -> dict[str, Any]:
    cluster.nodes.pop(each.get("gone"), None)
    cluster.drivers.pop(each.get("gone"), None)
    measured = {"good": GOOD, "fallen": FALLEN}.get(each.get("measures", ""))
    code, document, errors = command(cluster, each.get("flags", ()), measured)
    shown = {key: document[key] for key in _WORDS if document.get(key)}
    metadata = {name: item["metadata"] for name, item in cluster.nodes.items()}
    nodes = {
        "passed over": sorted(cluster.held()),
        "marked": sorted(name for name, has in metadata.items() if MARK in has.get("annotations", {})),
        "waiting": sorted(name for name, has in metadata.items() if cluster.driver.state in has["labels"]),
        "new": sorted(name for name, (image, _) in cluster.drivers.items() if image == NEW),
        "measured": "twice" if cluster.measurements > 1 else "",
    }
    error = {"error": " ".join(errors.split("error: ")[-1].split())} if code == 2 else {}
    return {"code": code, **shown, **error, **{key: names for key, names in nodes.items() if names}}
