"""The needs of every RDMA pod of a pool, as data."""

from typing import Any

import pytest
from aks_infiniband.workload.pods import (
    DRIVER_READY,
    config_map_name,
    config_maps,
    pod_template_fragment,
)
from aks_infiniband.workload.settings import WorkloadSettings, WorkloadSettingsArgs

from declared.pulumi_mocks import Deploy
from tests.some_pools import pool

GB200, MI300X = "Standard_ND128isr_NDR_GB200_v6", "Standard_ND96isr_MI300X_v5"


def two_rails() -> Any:
    networks = ("aks-infiniband", "aks-infiniband-ibp258p0s0")
    return pool(mode="ipoib", ipoib_networks=networks, ipoib_devices=("ibP257p0s0", "ibP258p0s0"))


def spec_of(of: Any, **more: Any) -> Any:
    return pod_template_fragment(of, **more)["spec"]


def container_of(of: Any, **more: Any) -> Any:
    (container,) = spec_of(of, **more)["containers"]
    return container


@pytest.mark.field_report("C1")
def test_a_pod_asks_for_all_gpus_and_the_rdma_resource_as_request_and_limit() -> None:
    wanted = {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}
    assert container_of(pool())["resources"] == {"requests": wanted, "limits": wanted}


def test_in_mode_sriov_a_pod_asks_for_every_hca_of_its_machine() -> None:
    assert container_of(pool(mode="sriov"))["resources"]["limits"] == {"nvidia.com/gpu": "8", "rdma/ib": "8"}


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ("Standard_HB176rs_v4", {"rdma/shared_ib": "1"}),
        (MI300X, {"rdma/shared_ib": "1"}),
        (GB200, {"nvidia.com/gpu": "4", "rdma/shared_ib": "1"}),
        ("Standard_ND40rs_v2", {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}),
    ],
)
def test_a_pod_asks_for_gpus_only_where_somebody_offers_them(size: str, wanted: dict[str, str]) -> None:
    assert container_of(pool(size))["resources"]["limits"] == wanted


@pytest.mark.field_report("B16")
def test_a_pod_lands_on_the_pool_and_tolerates_its_taints_by_key() -> None:
    spec = spec_of(pool(taints=("sku=gpu:NoSchedule",)))
    assert spec["nodeSelector"] == {"kubernetes.azure.com/agentpool": "ndh100"}
    assert spec["tolerations"] == [{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]


@pytest.mark.field_report("C2", "C7")
def test_a_pod_can_lock_memory_and_share_it() -> None:
    hbv4 = pool("Standard_HB176rs_v4")
    assert container_of(hbv4)["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    assert container_of(hbv4)["volumeMounts"] == [{"name": "shm", "mountPath": "/dev/shm"}]
    assert spec_of(hbv4)["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]


def test_a_pod_takes_its_environment_from_the_pools_config_map() -> None:
    assert container_of(pool())["envFrom"] == [{"configMapRef": {"name": "workload-ndh100"}}]


@pytest.mark.field_report("C3")
def test_a_pod_finds_the_topology_of_its_machine() -> None:
    container, (_, volume) = container_of(pool()), spec_of(pool())["volumes"]
    assert container["env"] == [{"name": "NCCL_TOPO_FILE", "value": "/etc/aks-infiniband/nccl-topology.xml"}]
    assert {"name": "topology", "mountPath": "/etc/aks-infiniband", "readOnly": True} in container["volumeMounts"]
    assert volume == {"name": "topology", "configMap": {"name": "workload-ndh100-topology"}}


@pytest.mark.field_report("C3b")
@pytest.mark.parametrize("size", ["Standard_HB176rs_v4", MI300X, GB200])
def test_no_topology_of_another_size_is_given_where_the_sizes_own_is_not_known(size: str) -> None:
    assert container_of(pool(size))["env"] == []
    assert list(config_maps(pool(size))) == ["workload-ndh100"]


def test_a_given_topology_is_used_instead() -> None:
    mi300x = pool(MI300X)
    assert container_of(mi300x, topology="<system/>")["env"][0]["name"] == "NCCL_TOPO_FILE"
    assert config_maps(mi300x, topology="<system/>")["workload-ndh100-topology"] == {"nccl-topology.xml": "<system/>"}


def test_the_topology_is_no_part_of_what_becomes_environment() -> None:
    assert all(key.isidentifier() for key in config_maps(pool())["workload-ndh100"])


@pytest.mark.field_report("C10")
def test_a_pod_joins_no_further_network_where_only_rdma_is_wanted() -> None:
    assert "metadata" not in pod_template_fragment(pool())


def test_in_mode_ipoib_a_pod_of_any_namespace_joins_the_networks_and_has_rdma_too() -> None:
    annotations = pod_template_fragment(two_rails())["metadata"]["annotations"]
    joined = "aks-infiniband/aks-infiniband, aks-infiniband/aks-infiniband-ibp258p0s0"
    assert annotations == {"k8s.v1.cni.cncf.io/networks": joined}
    assert container_of(two_rails())["resources"]["limits"]["rdma/shared_ib"] == "1"


@pytest.mark.field_report("C8")
def test_in_mode_ipoib_there_are_settings_for_infiniband_and_others_for_ip_over_it() -> None:
    found = config_maps(two_rails())
    assert found["workload-ndh100"]["NCCL_NET"] == "IB"
    assert found["workload-ndh100-ipoib"]["NCCL_SOCKET_IFNAME"] == "net1,net2"
    assert container_of(two_rails())["envFrom"] == [{"configMapRef": {"name": "workload-ndh100"}}]


def test_in_mode_driver_only_a_privileged_pod_mounts_the_device_nodes() -> None:
    hbv4 = pool("Standard_HB176rs_v4", mode="driver-only")
    container = container_of(hbv4)
    assert container["resources"]["limits"] == {}
    assert container["securityContext"] == {"privileged": True}
    assert {"name": "infiniband", "mountPath": "/dev/infiniband"} in container["volumeMounts"]
    assert {"name": "infiniband", "hostPath": {"path": "/dev/infiniband", "type": "Directory"}} in spec_of(hbv4)[
        "volumes"
    ]


@pytest.mark.parametrize(("driver", "waits"), [("doca-ofed", True), ("inbox", False)])
def test_in_mode_driver_only_a_pod_stays_off_nodes_whose_driver_is_not_there_yet(driver: str, waits: bool) -> None:
    affinity = spec_of(pool(mode="driver-only", nic_driver=driver)).get("affinity", {})
    assert (next(iter(DRIVER_READY)) in str(affinity)) is waits


@pytest.mark.parametrize("mode", ["rdma-shared", "sriov", "ipoib"])
def test_nothing_is_privileged_but_in_mode_driver_only(mode: str) -> None:
    assert "privileged" not in str(pod_template_fragment(pool(mode=mode)))


def test_a_pod_names_the_registrys_secret_where_there_is_one() -> None:
    assert spec_of(pool(), pull_secret="registry")["imagePullSecrets"] == [{"name": "registry"}]
    assert "imagePullSecrets" not in spec_of(pool())


def test_every_namespace_gets_every_config_map(deploy: Deploy) -> None:
    pools = [two_rails(), pool("Standard_HB176rs_v4", name="hb")]
    args = WorkloadSettingsArgs(pools=pools, namespaces=("aks-infiniband", "training"))
    deployment = deploy(lambda: WorkloadSettings("w", args=args).config_maps)
    made = [resource.inputs["metadata"] for resource in deployment.all("kubernetes:core/v1:ConfigMap")]
    names = {"workload-ndh100", "workload-ndh100-ipoib", "workload-ndh100-topology", "workload-hb"}
    assert {(block["namespace"], block["name"]) for block in made} == {
        (namespace, name) for namespace in args.namespaces for name in names
    }
    assert deployment.result == {"ndh100": config_map_name("ndh100"), "hb": config_map_name("hb")}


def test_a_namespace_that_is_named_twice_gets_them_once(deploy: Deploy) -> None:
    args = WorkloadSettingsArgs(pools=[pool("Standard_HB176rs_v4")], namespaces=("jobs", "jobs"))
    deployment = deploy(lambda: WorkloadSettings("w", args=args).config_maps)
    assert [resource.name for resource in deployment.all("kubernetes:core/v1:ConfigMap")] == ["w-jobs-ndh100"]


@pytest.mark.parametrize("mode", ["rdma-shared", "sriov", "ipoib"])
def test_a_restricted_pod_has_what_the_level_asks_for_and_else_what_every_pod_of_the_pool_has(mode: Any) -> None:
    of = pool(mode=mode)
    restricted, usual = pod_template_fragment(of, restricted=True), pod_template_fragment(of)
    context = restricted["spec"]["containers"][0].pop("securityContext")
    usual["spec"]["containers"][0].pop("securityContext")
    assert restricted == usual
    assert context["runAsUser"] > 0
    assert context["runAsNonRoot"] is True
    assert context["allowPrivilegeEscalation"] is False
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert {next(key for key in volume if key != "name") for volume in usual["spec"]["volumes"]} <= {
        "emptyDir",
        "configMap",
    }


def test_a_pool_whose_pods_are_privileged_has_no_restricted_one() -> None:
    with pytest.raises(ValueError, match="driver-only are privileged"):
        pod_template_fragment(pool(mode="driver-only"), restricted=True)
