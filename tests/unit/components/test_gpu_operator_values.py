"""The Helm values of the GPU Operator: who owns the driver, and what follows from it."""

from typing import Any

import pytest
from aks_infiniband import (
    GpuOperator,
    GpuOperatorArgs,
)
from aks_infiniband.facts.releases import GPU_OPERATOR_CHART
from aks_infiniband.operators.charts import ValuesError, chart_source
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.release import DriverUpgrade, OperatorOptions

from declared.pulumi_mocks import Deploy
from tests.some_pools import H100, HBV4, MI300X, pool


@pytest.mark.field_report("A4", "B3", "B3c", "B4")
def test_the_gpu_operator_owns_the_driver_with_rdma_against_the_operators_ofed() -> None:
    values = gpu_operator_values([pool()])
    assert values["driver"]["enabled"] is True
    assert values["driver"]["rdma"] == {"enabled": True, "useHostMofed": False}
    assert values["toolkit"]["enabled"] is True
    assert values["toolkit"]["env"][0] == {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}
    assert values["migManager"] == {"enabled": False}


@pytest.mark.field_report("A4", "B3")
def test_where_aks_owns_the_driver_the_operator_has_neither_driver_nor_toolkit_and_aks_runtime_class() -> None:
    values = gpu_operator_values([pool(gpu_driver="aks")])
    assert values["driver"] == {"enabled": False, "rdma": {"enabled": False, "useHostMofed": False}}
    assert values["toolkit"] == {"enabled": False}
    assert values["operator"]["runtimeClass"] == "nvidia-container-runtime"
    assert "runtimeClass" not in gpu_operator_values([pool()])["operator"]


@pytest.mark.field_report("A11")
def test_the_operators_toolkit_gives_no_gpus_by_a_variable_unless_that_is_asked_for() -> None:
    variable = {"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}
    assert variable in gpu_operator_values([pool()])["toolkit"]["env"]
    as_it_comes = gpu_operator_values([pool()], accept_visible_devices_envvar=True)
    assert variable not in as_it_comes["toolkit"]["env"]
    assert "cdi" not in as_it_comes


@pytest.mark.field_report("A11")
@pytest.mark.parametrize("owner", ["operator", "aks"])
def test_a_device_plugin_that_hands_gpus_out_by_the_variable_is_refused_where_nobody_reads_it(owner: Any) -> None:
    plain = {"cdi": {"enabled": False}}
    by_volumes = {"devicePlugin": {"env": [{"name": "DEVICE_LIST_STRATEGY", "value": "volume-mounts"}]}}
    both = {"devicePlugin": {"env": [{"name": "DEVICE_LIST_STRATEGY", "value": "cdi-cri,volume-mounts"}]}}
    for given in (plain, by_volumes):
        with pytest.raises(ValuesError, match=r"cdi.enabled is False|volume-mounts', by which no pod would get a GPU"):
            gpu_operator_values([pool(gpu_driver=owner)], given=given)
        gpu_operator_values([pool(gpu_driver=owner)], given=given, accept_visible_devices_envvar=True)
    gpu_operator_values([pool(gpu_driver=owner)], given=both)


@pytest.mark.field_report("B3c")
def test_with_the_kernels_own_driver_nothing_waits_for_an_ofed_and_gpudirect_is_left_to_dma_buf() -> None:
    values = gpu_operator_values([pool(nic_driver="inbox"), pool(HBV4, "hb")])
    assert values["driver"]["rdma"] == {"enabled": False, "useHostMofed": False}


@pytest.mark.field_report("B3c")
def test_gpu_pools_of_one_operator_cannot_be_reached_in_different_ways() -> None:
    with pytest.raises(ValuesError, match=r"different ways.*one: nvidia-peermem, two: dmabuf.*same gpuDirect"):
        gpu_operator_values([pool(name="one"), pool(name="two", nic_driver="inbox")])


@pytest.mark.field_report("B1c", "B3c")
def test_with_dma_buf_beside_ofed_the_driver_waits_for_no_ofed_and_has_the_open_kernel_modules() -> None:
    by_dma_buf = pool(name="one", gpu_direct="dmabuf")
    driver = gpu_operator_values([by_dma_buf, pool(name="two", nic_driver="inbox")])["driver"]
    assert driver["rdma"] == {"enabled": False, "useHostMofed": False}
    assert driver["kernelModuleType"] == "open"
    for as_before in (pool(), pool(nic_driver="inbox")):
        assert "kernelModuleType" not in gpu_operator_values([as_before])["driver"], "it would restart the driver"
    with pytest.raises(ValuesError, match="kernelModuleType"):
        gpu_operator_values([by_dma_buf], given={"driver": {"kernelModuleType": "proprietary"}})


@pytest.mark.field_report("A4")
def test_two_driver_owners_are_refused() -> None:
    with pytest.raises(ValuesError, match=r"two driver owners.*\(one: operator, two: aks\)"):
        gpu_operator_values([pool(name="one"), pool(name="two", gpu_driver="aks")])


@pytest.mark.parametrize("size", [HBV4, MI300X])
def test_without_gpus_that_it_serves_there_is_no_gpu_operator(deploy: Deploy, size: Any) -> None:
    def program() -> Any:
        args = GpuOperatorArgs(pools=[pool(size)], timeout_seconds=9)
        return GpuOperator("gpu-operator", args=args).state

    with pytest.raises(ValuesError, match="no pool has GPUs whose driver the operator or AKS owns"):
        deploy(program)


def test_pools_that_are_not_its_business_leave_no_trace_in_the_gpu_operators_tolerations() -> None:
    tainted = pool(HBV4, "hb", taints=("hpc=true:NoSchedule",))
    other = pool(H100, "other", taints=("other=true:NoSchedule",), gpu_driver="none")
    tolerations = gpu_operator_values([pool(), tainted, other])["daemonsets"]["tolerations"]
    assert [toleration["key"] for toleration in tolerations] == ["nvidia.com/gpu"]


@pytest.mark.field_report("B12")
def test_a_gpu_driver_is_upgraded_one_drained_node_at_a_time_to_the_version_of_the_settings() -> None:
    upgrade = DriverUpgrade(drain_timeout_seconds=900)
    driver = gpu_operator_values([pool()], options=OperatorOptions(driver_version="580.1", upgrade=upgrade))["driver"]
    assert driver["version"] == "580.1"
    assert driver["upgradePolicy"] == {
        "autoUpgrade": True,
        "maxParallelUpgrades": 1,
        "drain": {"enable": True, "force": True, "deleteEmptyDir": True, "timeoutSeconds": 900},
        # A pod with GPUs and an emptyDir leaves without the drain of its whole node.
        "gpuPodDeletion": {"force": True, "deleteEmptyDir": True, "timeoutSeconds": 900},
    }
    assert "version" not in gpu_operator_values([pool()])["driver"]


def test_where_gpus_metrics_are_read_the_chart_has_them_read_by_nobody_else() -> None:
    """Its own ServiceMonitor is on by default from release 26.7 on, and every series would be there twice."""
    exporter = gpu_operator_values([pool()], metrics=True)["dcgmExporter"]
    assert exporter == {"enabled": True, "serviceMonitor": {"enabled": False}}


def test_the_component_alone_refuses_a_chart_whose_driver_has_no_v100(deploy: Deploy) -> None:
    newer = chart_source(GPU_OPERATOR_CHART, version="v26.7.0")
    with pytest.raises(ValuesError, match=r"chart\.version is 'v26\.7\.0'.*V100, which pool old has"):
        deploy(
            lambda: GpuOperator(
                "gpu-operator", args=GpuOperatorArgs(pools=[pool("Standard_ND40rs_v2", "old")], chart=newer)
            )
        )
