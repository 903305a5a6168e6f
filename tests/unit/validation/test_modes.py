"""Each mode hands InfiniBand to the validation's pods in its own way, and is judged accordingly."""

from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.resources.options import Waits
from aks_infiniband.resources.registry import Registry
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.validation.validation_job import PoolAccess, validation_spec

MOFED_READY = "network.nvidia.com/operator.mofed.wait=false"


def spec_of(pool: Any, topology: str | None = None, **arguments: Any) -> Any:
    access = PoolAccess(namespace="system", account="validation", topology=topology)
    own: Any = {"access": access, "expected": expectations(pool), "options": ValidationOptions()}
    document = validation_spec(pool, waits=Waits(), **{**own, **arguments})
    return document["template"]


def containers(template: Any) -> tuple[Any, Any]:
    (awaits,), (validates,) = template["spec"]["initContainers"], template["spec"]["containers"]
    return awaits, validates


@pytest.fixture
def ipoib(pool: Any) -> Any:
    return pool.changed(
        mode="ipoib", ipoib_networks=("aks-infiniband", "other"), ipoib_devices=("ibP257p0s0", "ibP258p0s0")
    )


def test_sriov_pods_ask_for_every_hca_and_await_as_many_on_every_node(pool: Any) -> None:
    sriov = pool.changed(mode="sriov")
    awaits, validates = containers(spec_of(sriov))
    assert sriov.promised_resources == {"nvidia.com/gpu": 8, "rdma/ib": 8}
    assert "--resource=rdma/ib=8" in awaits["args"]
    assert validates["resources"]["limits"]["rdma/ib"] == "8"


def test_driver_only_pods_are_privileged_mount_the_devices_and_await_the_driver_of_every_node(pool: Any) -> None:
    template = spec_of(pool.changed(mode="driver-only"))
    awaits, validates = containers(template)
    assert f"--label={MOFED_READY}" in awaits["args"]
    assert not [argument for argument in awaits["args"] if "rdma/" in argument]
    assert not [name for name in validates["resources"]["limits"] if name.startswith("rdma/")]
    assert validates["securityContext"] == {"privileged": True, "runAsUser": 0}
    assert "privileged" not in awaits["securityContext"]
    paths = {volume["hostPath"]["path"] for volume in template["spec"]["volumes"] if "hostPath" in volume}
    assert paths == {"/dev/infiniband", "/sys/class/infiniband", "/sys/devices"}
    assert {"nodeAffinity", "podAntiAffinity"} == set(template["spec"]["affinity"])


def test_pods_mount_their_machines_counters_read_only_and_nothing_where_nobody_looks_at_them(pool: Any) -> None:
    def mounted(error_counters: Any) -> tuple[set[str], list[Any]]:
        template = spec_of(pool, options=ValidationOptions(error_counters=error_counters))
        _, validates = containers(template)
        of_host = [volume for volume in template["spec"]["volumes"] if "hostPath" in volume]
        volumes = {volume["name"]: volume["hostPath"]["path"] for volume in of_host}
        mounts = [mount for mount in validates["volumeMounts"] if mount["name"] in volumes]
        assert ("--counters" in validates["args"]) == bool(volumes)
        return set(volumes.values()), mounts

    for unread in ("warn", "enforce"):
        paths, mounts = mounted(unread)
        assert paths == {"/sys/class/infiniband", "/sys/devices"}
        assert all(mount["readOnly"] for mount in mounts)
    assert mounted("off") == (set(), [])


def test_ipoib_pods_join_every_network_and_read_what_multus_notes(ipoib: Any) -> None:
    template = spec_of(ipoib)
    _, validates = containers(template)
    joined = template["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
    assert joined == "aks-infiniband/aks-infiniband, aks-infiniband/other"
    (volume,) = [volume for volume in template["spec"]["volumes"] if volume["name"] == "podinfo"]
    _, item = volume["downwardAPI"]["items"]
    assert item["fieldRef"]["fieldPath"] == "metadata.annotations['k8s.v1.cni.cncf.io/network-status']"
    (mount,) = [mount for mount in validates["volumeMounts"] if mount["name"] == volume["name"]]
    arguments = validates["args"]
    assert arguments[arguments.index("--attachments") + 1] == f"{mount['mountPath']}/{item['path']}"
    assert expectations(ipoib)["interfaces"] == ["net1", "net2"]


def test_pods_of_another_mode_join_no_network(pool: Any) -> None:
    assert "k8s.v1.cni.cncf.io/networks" not in spec_of(pool)["metadata"]["annotations"]
    assert expectations(pool)["interfaces"] == []


def test_gpus_that_nobody_drives_are_neither_awaited_nor_asked_for_and_not_measured(pool: Any) -> None:
    undriven = pool.changed(size=SIZES["Standard_ND96isr_MI300X_v5"], gpu_driver="none")
    expected: Any = expectations(undriven)
    assert undriven.promised_resources == {"rdma/shared_ib": 1}
    assert expected["accelerators"] is None
    assert {"all-reduce", "GPUDirect"} <= set(expected["not_measured"])
    _, validates = containers(spec_of(undriven))
    assert not [name for name in validates["resources"]["limits"] if name.endswith("/gpu")]


def test_images_come_from_the_mirror_with_its_credentials(pool: Any) -> None:
    registry = Registry(images="mirror.example/all", pull_secret="aks-infiniband-registry")
    template = spec_of(pool, registry=registry)
    for container in containers(template):
        assert container["image"].startswith("mirror.example/all/")
    assert template["spec"]["imagePullSecrets"] == [{"name": "aks-infiniband-registry"}]


def test_the_topology_is_mounted_where_workloads_have_it(pool: Any) -> None:
    _, validates = containers(spec_of(pool.changed(size=SIZES["Standard_HB120rs_v3"], gpu_driver="none")))
    assert "NCCL_TOPO_FILE" not in {variable["name"] for variable in validates["env"]}
    _, validates = containers(spec_of(pool, topology="topology-1.xml"))
    assert "NCCL_TOPO_FILE" in {variable["name"] for variable in validates["env"]}


def test_the_container_that_is_not_root_leaves_its_limit_for_the_one_that_judges(pool: Any) -> None:
    template = spec_of(pool)
    awaits, validates = containers(template)
    files = {spec["args"][spec["args"].index("--limits") + 1] for spec in (awaits, validates)}
    assert len(files) == 1
    assert awaits["securityContext"]["runAsUser"] != 0
    (file,) = files
    for spec in (awaits, validates):
        (mount,) = [mount for mount in spec["volumeMounts"] if mount["name"] == "shared"]
        assert file.startswith(f"{mount['mountPath']}/")
