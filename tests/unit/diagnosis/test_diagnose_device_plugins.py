"""Waits for resources that a device plugin does not offer: why it offers none, and what to do next."""

import json
from typing import Any

import pytest
from aks_infiniband.diagnosis.view import View

from tests.unit.diagnosis.views import JOB, POOL, bare, daemon_set, job, node, pod, said


def device_plugin(log: str, name: str = "rdma-shared-dp-ds-x", app: str = "rdma-shared-dp") -> dict[str, Any]:
    """A device plugin that runs on n0, and what it says."""
    running = pod(name, "network-operator", containerStatuses=[{"name": "c", "ready": True, "state": {"running": {}}}])
    running["metadata"]["labels"] = {"app": app}
    return {"pods": [running], "logs": {f"network-operator/{name}": log}}


def config_map(name: str, entries: str, *resources: Any) -> Any:
    data = {"config.json": json.dumps({entries: list(resources)})}
    return {"metadata": {"name": name, "namespace": "network-operator"}, "data": data}


@pytest.mark.field_report("B13")
@pytest.mark.parametrize(
    "log",
    [
        r'error creating new device: "missing RDMA device spec for device 0001:00:00.0, RDMA device \"issm\" not found',
        'exposing "0" devices',
    ],
)
def test_a_device_plugin_without_devices_is_blamed_on_the_modules_that_its_log_misses(log: str) -> None:
    view = View(
        nodes=[node("n0", **{"rdma/shared_ib": "0"}), node("n1")],
        jobs=[job()],
        daemon_sets=[daemon_set("rdma-shared-dp-ds")],
        config_maps=[config_map("rdma-devices", "configList", {"resourceName": "shared_ib"})],
        **device_plugin(log),
    )
    text = said(JOB, view)
    assert "offers no rdma/shared_ib on n0" in text
    assert "nodePreparation: true" in text


@pytest.mark.field_report("B14")
def test_the_sriov_device_plugin_of_a_pools_own_policy_is_found_under_the_pools_name() -> None:
    name = "network-operator-sriov-device-plugin-ndh100"
    entry = {"resourcePrefix": "rdma", "resourceName": "ib", "selectors": {"vendors": ["1234"]}}
    view = View(
        nodes=[node("n0", **{"rdma/ib": "0"}), node("n1", **{"rdma/ib": "8"})],
        jobs=[job()],
        daemon_sets=[daemon_set(name)],
        config_maps=[config_map("network-operator-sriovdp-config-ndh100", "resourceList", entry)],
    )
    text = said(JOB, view, [POOL.changed(mode="sriov")])
    assert 'offers no rdma/ib on n0: its selectors are {"vendors": ["1234"]}' in text
    assert f"daemonset/{name}" in text


def test_the_device_plugin_of_a_pools_own_policy_is_found_by_its_owner_if_its_name_ends_in_a_hash() -> None:
    plugin = daemon_set("rdma-shared-dp-ds-7f3a9c1e")
    plugin["metadata"]["ownerReferences"] = [{"kind": "NicNodePolicy", "name": "ndh100"}]
    view = View(
        nodes=[node("n0", **{"rdma/shared_ib": "0"}), node("n1")],
        jobs=[job()],
        daemon_sets=[plugin],
        config_maps=[config_map("rdma-devices-ndh100", "configList", {"resourceName": "shared_ib"})],
    )
    text = said(JOB, view)
    assert "offers no rdma/shared_ib on n0" in text
    assert "daemonset/rdma-shared-dp-ds-7f3a9c1e" in text


def test_a_resource_without_a_prefix_has_the_plugins_own() -> None:
    view = View(
        nodes=[node("n0", **{"rdma/ib": "0"}), node("n1", **{"rdma/ib": "8"})],
        jobs=[job()],
        daemon_sets=[daemon_set("network-operator-sriov-device-plugin")],
        config_maps=[config_map("network-operator-sriovdp-config", "resourceList", {"resourceName": "ib"})],
    )
    text = said(JOB, view, [POOL.changed(mode="sriov")])
    assert "is configured to offer nvidia.com/ib, not rdma/ib (missing on n0)" in text


def test_a_pool_without_a_device_plugin_is_not_asked_for_one() -> None:
    assert "device plugin" not in said(JOB, View(nodes=[bare("n0")], jobs=[job()]), [POOL.changed(mode="driver-only")])
