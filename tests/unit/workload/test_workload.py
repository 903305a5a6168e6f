"""What every RDMA pod of a pool needs, as data."""

from typing import Any

import pytest
from aks_infiniband.catalog import SIZES
from aks_infiniband.pool import Pool
from aks_infiniband.workload import config_map_name, nccl_environment, pod_template_fragment


def make_pool(size: Any = "Standard_ND96isr_H100_v5", **changes: Any) -> Any:
    facts: dict[str, Any] = {
        "name": "ndh100",
        "size": SIZES[size],
        "node_count": 2,
        "node_selector": {"kubernetes.azure.com/agentpool": "ndh100"},
        "tolerations": ({"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},),
        "rdma_resource": "rdma/shared_ib",
        "rdma_quantity": 1,
    }
    return Pool(**(facts | changes))


def test_nccl_uses_infiniband_and_nothing_else() -> None:
    assert nccl_environment() == {
        "NCCL_IB_DISABLE": "0",
        "NCCL_NET_GDR_LEVEL": "SYS",
        "NCCL_IB_PCI_RELAXED_ORDERING": "1",
        "NCCL_IB_HCA": "^mlx5_an",
        "NCCL_SOCKET_IFNAME": "eth0",
    }


def test_nobody_can_change_the_environment_of_the_next_pool() -> None:
    nccl_environment()["NCCL_IB_DISABLE"] = "1"
    assert nccl_environment()["NCCL_IB_DISABLE"] == "0"


def test_a_pod_asks_for_all_gpus_and_the_rdma_resource_as_request_and_limit() -> None:
    (container,) = pod_template_fragment(make_pool(), config_map="c")["spec"]["containers"]
    wanted = {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}
    assert container["resources"] == {"requests": wanted, "limits": wanted}


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ("Standard_HB176rs_v4", {"rdma/shared_ib": "1"}),
        ("Standard_ND96isr_MI300X_v5", {"amd.com/gpu": "8", "rdma/shared_ib": "1"}),
        ("Standard_ND128isr_NDR_GB200_v6", {"nvidia.com/gpu": "4", "rdma/shared_ib": "1"}),
    ],
)
def test_the_resources_follow_the_size(size: Any, wanted: Any) -> None:
    (container,) = pod_template_fragment(make_pool(size), config_map="c")["spec"]["containers"]
    assert container["resources"]["limits"] == wanted


def test_a_pod_lands_on_the_pool_and_tolerates_its_taints_by_key() -> None:
    spec = pod_template_fragment(make_pool(), config_map="c")["spec"]
    assert spec["nodeSelector"] == {"kubernetes.azure.com/agentpool": "ndh100"}
    assert spec["tolerations"] == [{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]


def test_a_pod_can_lock_memory_and_share_it() -> None:
    spec = pod_template_fragment(make_pool(), config_map="c")["spec"]
    (container,) = spec["containers"]
    assert container["securityContext"]["capabilities"]["add"] == ["IPC_LOCK"]
    assert container["volumeMounts"] == [{"name": "shm", "mountPath": "/dev/shm"}]
    assert spec["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "64Gi"}}]


def test_a_pod_takes_its_environment_from_the_pools_config_map() -> None:
    (container,) = pod_template_fragment(make_pool(), config_map=config_map_name("ndh100"))["spec"]["containers"]
    assert container["envFrom"] == [{"configMapRef": {"name": "workload-ndh100"}}]


def test_nothing_in_the_fragment_is_privileged() -> None:
    (container,) = pod_template_fragment(make_pool(), config_map="c")["spec"]["containers"]
    assert "privileged" not in container["securityContext"]
