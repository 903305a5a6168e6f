"""Monitors and rules are ones that both kinds of Prometheus take, and the GPU monitor finds the operator's exporter."""

from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.observability.documents import GROUPS, exporter_spec, monitors, rules
from aks_infiniband.resources.registry import Registry
from lightkube.models.apps_v1 import DaemonSetSpec

from tests.conformance.facts import GPU, assert_accepted, facts
from tests.some_pools import pool


@pytest.mark.parametrize("group", [api.partition("/")[0] for api in GROUPS.values()])
def test_monitors_are_ones_that_the_real_definitions_accept(group: str) -> None:
    for spec in monitors(gpus=True).values():
        assert_accepted(f"podmonitors.{group}", spec)


def test_a_monitor_with_a_field_of_prometheus_own_is_refused() -> None:
    (endpoint,) = (spec := monitors(gpus=False)["hcas"])["podMetricsEndpoints"]
    endpoint["relabel_configs"] = []
    with pytest.raises(AssertionError, match="relabel_configs"):
        assert_accepted("podmonitors.azmonitoring.coreos.com", spec)


def test_the_alerts_are_ones_that_the_real_definition_accepts() -> None:
    assert_accepted("PrometheusRule", rules())


def test_the_monitor_of_gpus_selects_the_pods_of_the_operators_exporter() -> None:
    operand = facts(f"operands/{GPU}/state-dcgm-exporter/0800_daemonset.yaml")["workloads"]["nvidia-dcgm-exporter"]
    assert monitors(gpus=True)["gpus"]["selector"]["matchLabels"].items() <= operand["pod-labels"].items()


def test_the_exporter_is_a_daemon_set_that_kubernetes_knows() -> None:
    for size in SIZES:
        spec: dict[str, Any] = exporter_spec(
            pool(size, taints=("a=b:NoSchedule",)), Registry(images="acr.example/mirror", pull_secret="creds")
        )
        assert DaemonSetSpec.from_dict(spec).to_dict() == spec
