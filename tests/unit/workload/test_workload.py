"""The ConfigMaps of pools in namespaces; the needs of a pod of a pool are in cases/pods.yaml."""

from typing import Any

from aks_infiniband.workload.pods import config_map_name
from aks_infiniband.workload.settings import WorkloadSettings, WorkloadSettingsArgs

from declared.pulumi_mocks import Deploy
from tests.some_pools import pool


def two_rails() -> Any:
    networks = ("aks-infiniband", "aks-infiniband-ibp258p0s0")
    return pool(mode="ipoib", ipoib_networks=networks, ipoib_devices=("ibP257p0s0", "ibP258p0s0"))


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
