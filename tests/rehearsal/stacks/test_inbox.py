"""Ubuntu's own driver, on GPUs whose software comes later and on a size that only the stack file knows."""

import pytest
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from lightkube.resources.core_v1 import Pod

from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack

STACK = "dev"
OWN_SIZE = {
    "vcpus": 120,
    "memoryGib": 448,
    "series": "HBv3",
    "infiniband": {"hcaCount": 1, "generation": "HDR", "adapter": "ConnectX-6"},
}


@pytest.fixture(scope="module", autouse=True)
def changed(stack: Stack) -> None:
    stack.settings(
        networkOperator={"driver": "inbox"},
        sizes={"Standard_HB121rs_v3": OWN_SIZE},
        pools=[
            {"name": "mi300x", "vmSize": "Standard_ND96isr_MI300X_v5", "count": 2, "mode": "sriov"},
            {"name": "own", "vmSize": "Standard_HB121rs_v3", "count": 2},
            {"name": "hbv3", "vmSize": "Standard_HB120rs_v3", "count": 2, "mode": "ipoib"},
        ],
    )


def test_the_kernels_own_driver_serves_every_mode_without_an_ofed_container(stack: Stack, brought_up: Outcome) -> None:
    ofed = stack.cluster().list(Pod, namespace="network-operator", labels={"nvidia.com/ofed-driver": ""})
    assert list(ofed) == []
    offered = {
        pool: [
            {
                key: value
                for key, value in node["status"]["allocatable"].items()
                if "/" in key and "hugepages" not in key
            }
            for node in stack.nodes(agentpool=pool)
        ]
        for pool in ("mi300x", "own", "hbv3")
    }
    assert offered == {
        "mi300x": [{"rdma/ib": "8"}] * 2,
        "own": [{"rdma/shared_ib": "63"}] * 2,
        "hbv3": [{"rdma/shared_ib": "63"}] * 2,
    }
    assert stack.verdicts() == {"mi300x": "pass", "own": "pass", "hbv3": "pass"}


def test_gpus_that_nobody_drives_are_not_asked_for(stack: Stack, brought_up: Outcome) -> None:
    pool = stack.outputs()["pools"]["mi300x"]
    assert pool["podTemplate"]["spec"]["containers"][0]["resources"]["limits"] == {"rdma/ib": "8"}


def test_node_preparation_gives_up_its_privileges_when_a_node_is_prepared(stack: Stack, brought_up: Outcome) -> None:
    assert stack.privileged() == [("node-preparation", "terminated")] * 6
    idle = stack.cluster().list(Pod, namespace=SYSTEM_NAMESPACE, labels={"app.kubernetes.io/name": "node-preparation"})
    assert [pod.to_dict()["status"]["phase"] for pod in idle] == ["Running"] * 6
