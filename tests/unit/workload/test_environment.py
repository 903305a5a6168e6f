"""The environment of NCCL and RCCL, by transport."""

import pytest
from aks_infiniband.workload.environment import Transport, nccl_environment


def test_over_infiniband_nccl_uses_infiniband() -> None:
    assert nccl_environment() == {
        "NCCL_NET": "IB",
        "NCCL_IB_DISABLE": "0",
        "NCCL_NET_GDR_LEVEL": "SYS",
        "NCCL_IB_PCI_RELAXED_ORDERING": "1",
        "NCCL_IB_HCA": "^mlx5_an",
        "NCCL_SOCKET_IFNAME": "eth0",
    }


@pytest.mark.field_report("C1")
@pytest.mark.parametrize("transport", ["infiniband", "roce"])
def test_nccl_that_finds_no_rdma_fails_and_does_not_fall_back_on_sockets(transport: Transport) -> None:
    assert nccl_environment(transport)["NCCL_NET"] == "IB"


@pytest.mark.field_report("C9")
def test_the_ethernet_device_of_accelerated_networking_is_left_out() -> None:
    assert nccl_environment()["NCCL_IB_HCA"].startswith("^")
    assert "mlx5_an0".startswith(nccl_environment()["NCCL_IB_HCA"].removeprefix("^"))


def test_over_roce_packets_are_of_version_two_and_in_the_lossless_class() -> None:
    environment = nccl_environment("roce")
    assert (environment["NCCL_IB_GID_INDEX"], environment["NCCL_IB_TC"]) == ("3", "106")


def test_over_ipoib_nccl_uses_sockets_on_the_pods_ipoib_interfaces() -> None:
    assert nccl_environment("ipoib", ipoib_interfaces=("net1", "net2")) == {
        "NCCL_NET": "Socket",
        "NCCL_IB_DISABLE": "1",
        "NCCL_SOCKET_IFNAME": "net1,net2",
    }


def test_over_tcp_nccl_uses_sockets_on_the_pod_network() -> None:
    assert nccl_environment("tcp") == {"NCCL_NET": "Socket", "NCCL_IB_DISABLE": "1", "NCCL_SOCKET_IFNAME": "eth0"}


def test_nobody_can_change_the_environment_of_the_next_pool() -> None:
    nccl_environment()["NCCL_IB_DISABLE"] = "1"
    assert nccl_environment()["NCCL_IB_DISABLE"] == "0"
