"""The fields of the Network Operator's DaemonSets in addition to their policy."""

import json
from typing import Any

from rehearsal.operators.network.reconcile import reconcile

NOW = "2026-01-01T01:00:00Z"


def test_another_configuration_restarts_a_device_plugin(running: Any) -> None:
    def template(resource: str) -> Any:
        section = {"image": "plugin", "repository": "r", "version": "v1", "config": json.dumps({"name": resource})}
        running.policy({"rdmaSharedDevicePlugin": section})
        made = reconcile(running.snapshot(), now=NOW).objects
        return next(d for d in made if d["kind"] == "DaemonSet")["spec"]["template"]

    assert template("hca") == template("hca")
    assert template("hca") != template("another")


def test_a_policys_affinity_takes_the_place_of_one_driver_a_node(running: Any) -> None:
    """The real manifest has `affinity` twice, and the last one counts."""
    ofed = {"image": "ofed", "repository": "r", "version": "v1"}

    def affinity(**more: Any) -> set[str]:
        running.policy({"ofedDriver": ofed, **more})
        made = reconcile(running.snapshot(), now=NOW).objects
        return set(next(d for d in made if d["kind"] == "DaemonSet")["spec"]["template"]["spec"]["affinity"])

    assert affinity() == {"podAntiAffinity"}
    terms = [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    assert affinity(nodeAffinity=required) == {"nodeAffinity"}
