"""NCCL's own words, as several of its versions write them, read into transports."""

import pytest
from aks_infiniband.validation.payload.collective import nccl_log

from tests.unit.field_recordings.recordings import excerpt

# The lines' forms: NCCL 2.28, src/transport/{net,p2p}.cc and src/transport/net_ib/init.cc; the connections are those
# that Azure/aks-rdma-infiniband pull request 36 shows for two machines of eight GPUs.
INFINIBAND = """\
validate-0:523:523 [0] NCCL INFO NCCL version 2.27.3+cuda12.9
validate-0:523:564 [0] NCCL INFO NET/IB : Using [0]mlx5_ib0:1/IB [1]mlx5_ib1:1/IB [RO]; OOB eth0:10.244.1.7<0>
validate-0:523:564 [0] NCCL INFO Using network IB
validate-0:523:564 [0] NCCL INFO DMA-BUF is available on GPU device 0
validate-0:523:564 [0] NCCL INFO comm 0x1 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0
validate-0:523:564 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_ib0'
validate-0:523:564 [0] NCCL INFO Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IB/0/GDRDMA
validate-0:523:564 [0] NCCL INFO Channel 08/0 : 9[1] -> 0[0] [receive] via NET/IB/1/GDRDMA/Shared
validate-0:527:565 [4] NCCL INFO Channel 04/0 : 5[5] -> 12[4] [send] via NET/IB/1(4)/GDRDMA
validate-0:523:564 [0] NCCL INFO Channel 00/0 : 0[0] -> 7[7] via P2P/IPC
"""


def transport(text: str) -> str:
    return nccl_log.transport_name(nccl_log.read_log(text))


@pytest.mark.field_report("B3")
def test_gpu_direct_is_told_from_the_way_through_host_memory() -> None:
    assert transport(INFINIBAND) == nccl_log.INFINIBAND_DIRECT
    assert transport(INFINIBAND.replace("/GDRDMA", "")) == nccl_log.INFINIBAND_STAGED


def test_that_a_device_could_do_gpu_direct_does_not_say_that_it_is_used() -> None:
    assert "GPU Direct RDMA Enabled" in INFINIBAND.replace("/GDRDMA", "")
    assert transport(INFINIBAND.replace("/GDRDMA", "")) == nccl_log.INFINIBAND_STAGED


def test_older_gpus_that_send_through_the_host_but_receive_directly_use_gpu_direct() -> None:
    assert transport(INFINIBAND.replace("[send] via NET/IB/1(4)/GDRDMA", "[send] via NET/IB/1")) == (
        nccl_log.INFINIBAND_DIRECT
    )


def test_one_connection_that_is_received_through_the_host_spoils_it() -> None:
    assert transport(INFINIBAND.replace("[receive] via NET/IB/0/GDRDMA", "[receive] via NET/IB/0")) == (
        nccl_log.INFINIBAND_STAGED
    )


@pytest.mark.field_report("C1")
def test_one_connection_over_sockets_is_sockets() -> None:
    assert transport(INFINIBAND + "h:1:1 [0] NCCL INFO Channel 01/0 : 1[1] -> 0[0] [receive] via NET/Socket/0\n") == (
        nccl_log.SOCKETS
    )


@pytest.mark.field_report("C9")
def test_the_ethernet_device_of_accelerated_networking_is_called_roce() -> None:
    assert transport(INFINIBAND.replace(":1/IB", ":1/RoCE")) == nccl_log.ROCE_DIRECT


def test_the_network_of_hpc_x_is_infiniband_too() -> None:
    text = INFINIBAND.replace("NET/IB/", "NET/IBext_v8/").replace("NET/IB :", "NET/IBext_v8 :")
    assert transport(text) == nccl_log.INFINIBAND_DIRECT
    assert nccl_log.read_log(text)["devices"] == {"mlx5_ib0": "IB", "mlx5_ib1": "IB"}


def test_another_plugin_is_called_by_its_name() -> None:
    assert transport(INFINIBAND.replace("NET/IB/", "NET/Libfabric/")) == "network plugin Libfabric"


def test_devices_are_those_that_carry_something_by_name() -> None:
    evidence = nccl_log.read_log(INFINIBAND.replace("NET/IB/1", "NET/IB/0"))
    assert evidence["devices"] == {"mlx5_ib0": "IB"}


def test_what_is_counted_and_what_is_said_of_the_job() -> None:
    evidence = nccl_log.read_log(INFINIBAND)
    assert evidence["channels"] == {"NET/IB/GDRDMA receive": 2, "NET/IB/GDRDMA send": 1, "P2P/IPC": 1}
    assert (evidence["library"], evidence["ranks"], evidence["nodes"]) == ("NCCL 2.27.3+cuda12.9", 16, 2)


@pytest.mark.field_report("B3")
@pytest.mark.parametrize(
    ("gpu", "hca", "way"),
    [
        (True, "NET/IB : GPU Direct RDMA Enabled", "DMA-BUF"),
        (False, "NET/IB : GPU Direct RDMA Enabled", "nvidia-peermem"),
        (True, "NET/IB : GPU Direct RDMA (DMABUF) enabled", "DMA-BUF"),
        (True, "NET/IB : GPU Direct RDMA (nvidia-peermem) enabled", "nvidia-peermem"),
        (False, "NET/IB : GPU Direct RDMA (DMABUF) enabled", "nvidia-peermem"),
    ],
)
def test_the_way_is_dma_buf_only_where_neither_gpu_nor_hca_is_said_to_lack_it(gpu: bool, hca: str, way: str) -> None:
    text = INFINIBAND.replace("NET/IB : GPU Direct RDMA Enabled", hca)
    text = text if gpu else text.replace("DMA-BUF is available on GPU device 0", "")
    evidence = nccl_log.read_log(text)
    assert (evidence["gpu_direct"], evidence["dma_buf"], evidence["hcas_direct"]) == ({way: 1}, gpu, True)


@pytest.mark.field_report("B3")
def test_without_a_direct_connection_there_is_no_way_whatever_was_available() -> None:
    staged = INFINIBAND.replace("/GDRDMA", "")
    evidence = nccl_log.read_log(staged)
    assert (evidence["gpu_direct"], evidence["dma_buf"], evidence["hcas_direct"]) == ({}, True, True)
    other = nccl_log.read_log(staged.replace("Enabled for HCA", "Disabled for HCA").replace("DMA-BUF", ""))
    both = nccl_log.together([evidence, other, nccl_log.read_log("")])
    assert (both["gpu_direct"], both["dma_buf"], both["hcas_direct"]) == ({}, False, False)
    assert nccl_log.read_log("")["dma_buf"] is None


def _of_rccl(name: str) -> nccl_log.Evidence:
    return nccl_log.read_log(excerpt(name))


def test_rccl_over_sockets_is_told_by_its_own_lines() -> None:
    found = _of_rccl("rccl-2.26.6-two-nodes")
    assert found["library"] == "RCCL 2.26.6-HEAD:f224e2c"
    assert (found["ranks"], found["nodes"], found["network"]) == (2, 2, "Socket")
    assert nccl_log.transport_name(found) == nccl_log.SOCKETS
    assert found["dma_buf"] is False


@pytest.mark.parametrize("name", ["rccl-2.21.5-dmabuf", "rccl-2.30.4-dmabuf"])
def test_rccl_says_of_dma_buf_other_words_than_nccl(name: str) -> None:
    found = nccl_log.read_log(f"{excerpt(name)}\nvm:1:1 [0] NCCL INFO Using network IB")
    assert found["dma_buf"] is True


_RCCL = """\
vm:1:1 [0] NCCL INFO RCCL version : 2.27.7-HEAD:29e1567
vm:1:1 [0] NCCL INFO Using network IB
vm:1:1 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA comm 0x22fcfb0 nRanks 16
"""


@pytest.mark.parametrize(
    ("more", "way"),
    [
        ("DMA_BUF Support Enabled", "DMA-BUF"),
        ("Dmabuf feature disabled without NCCL_DMABUF_ENABLE=1", "amdgpu's peer memory"),
        (
            "DMA_BUF Support Enabled\nvm:1:1 [0] NCCL INFO NET/IB: Using GPU Direct RDMA (peermem) for device 0",
            "amdgpu's peer memory",
        ),
    ],
)
def test_by_which_way_rccl_reaches_gpus_is_told_by_its_name(more: str, way: str) -> None:
    found = nccl_log.read_log(f"{_RCCL}vm:1:1 [0] NCCL INFO {more}\n")
    assert found["gpu_direct"] == {way: 1}
    assert nccl_log.transport_name(found) == nccl_log.INFINIBAND_DIRECT


def test_rccl_says_the_same_in_its_own_name() -> None:
    text = INFINIBAND.replace("NCCL version 2.27.3+cuda12.9", "RCCL version 2.22.3-develop:5ab40a4")
    assert nccl_log.read_log(text)["library"] == "RCCL 2.22.3-develop:5ab40a4"


def test_older_versions_number_and_name_connections_otherwise() -> None:
    # NCCL 2.5 (Ring), 2.8 (bus ids, no connection index).
    text = (
        "h:1:1 [0] NCCL INFO Ring 00 : 1[b00000] -> 0[100000] [receive] via NET/IB/0/GDRDMA\n"
        "h:1:1 [0] NCCL INFO Channel 00 : 0[100000] -> 1[b00000] [send] via NET/IB/0/GDRDMA\n"
    )
    assert transport(text) == nccl_log.INFINIBAND_DIRECT


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read", nccl_log.PEER_TO_PEER),
        ("New proxy recv connection 0 from local rank 1, transport 0", nccl_log.PEER_TO_PEER),
        ("Channel 00 : 0[0] -> 1[1] via SHM/direct/direct", nccl_log.SHARED_MEMORY),
        ("16 coll channels, 16 collnet channels, 16 nvls channels, 32 p2p channels", nccl_log.MULTICAST),
        ("Bootstrap: Using eth0:10.0.0.4<0>", nccl_log.NONE),
    ],
)
def test_within_one_host_the_way_is_named(lines: str, name: str) -> None:
    assert transport(f"h:1:1 [0] NCCL INFO {lines}\n") == name


def test_a_line_cut_off_and_other_programs_words_are_passed_over() -> None:
    cut = INFINIBAND[: INFINIBAND.index("[receive] via NET/IB/1") + 12]
    noise = "Channel 00/0 : 9[1] -> 0[0] [receive] via NET/Socket/0 is what to look for\n"
    assert nccl_log.read_log(noise + cut)["channels"] == {"NET/IB/GDRDMA receive": 1}


def test_lines_of_several_ranks_that_ran_together_are_all_counted() -> None:
    lines = INFINIBAND.splitlines(keepends=True)
    mixed = "".join(line for pair in zip(lines, lines, strict=True) for line in pair)
    assert nccl_log.read_log(mixed)["channels"]["NET/IB/GDRDMA receive"] == 4


def test_warnings_are_kept_once_each_and_few() -> None:
    warning = "h:1:1 [0] net_ib.cc:2 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n"
    many = "".join(f"h:1:1 [0] x.cc:2 NCCL WARN {number}\n" for number in range(20))
    assert nccl_log.read_log(warning * 3)["warnings"] == ["Call to ibv_reg_mr failed with error Cannot allocate memory"]
    assert len(nccl_log.read_log(many)["warnings"]) == 5


def test_evidence_of_several_ranks_adds_up() -> None:
    other = nccl_log.read_log(INFINIBAND.replace("mlx5_ib0", "mlx5_ib7"))
    both = nccl_log.together([nccl_log.read_log(INFINIBAND), other, nccl_log.read_log("")])
    assert both["channels"]["P2P/IPC"] == 2
    assert both["gpu_direct"] == {"DMA-BUF": 2}
    assert set(both["devices"]) == {"mlx5_ib0", "mlx5_ib1", "mlx5_ib7"}
    assert both["library"] == "NCCL 2.27.3+cuda12.9"
