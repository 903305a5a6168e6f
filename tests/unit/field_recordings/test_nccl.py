"""NCCL's words on Azure are read rightly, and the simulated NCCL has the same words."""

import re

import pytest
from aks_infiniband.validation.payload.collective import nccl_log

from rehearsal.machines.gpu_libraries import nccl_log as nccl_words
from rehearsal.machines.gpu_libraries.simulation import Fabric
from tests.unit.field_recordings.recordings import excerpt


def test_gpudirect_rdma_is_seen_in_what_was_connected() -> None:
    evidence = nccl_log.read_log(excerpt("gpudirect-a100"))
    assert nccl_log.transport_name(evidence) == nccl_log.INFINIBAND_DIRECT
    assert evidence["channels"] == {"NET/IB/GDRDMA receive": 3, "NET/IB/GDRDMA send": 1}


def test_an_hca_that_the_sharp_plugin_names_is_infiniband_and_the_ethernet_device_is_not() -> None:
    connected = "vm:1:1 [0] NCCL INFO Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IBext_v8/{}/GDRDMA\n"
    for number, device, link in (("7", "mlx5_ib7", "IB"), ("8", "mlx5_an0", "RoCE")):
        evidence = nccl_log.read_log(excerpt("sharp-h100") + connected.format(number))
        assert evidence["network"] == "IBext_v8"
        assert evidence["devices"] == {device: link}
        assert evidence["dma_buf"] is True


def test_the_fall_back_to_sockets_is_told_from_a_device_that_was_not_found() -> None:
    evidence = nccl_log.read_log(excerpt("sockets-azure"))
    assert (evidence["network"], evidence["devices"]) == ("Socket", {})


@pytest.mark.field_report("B3")
def test_dma_buf_is_told_of_a_run_on_nccls_own_network() -> None:
    evidence = nccl_log.read_log(excerpt("gpudirect-dma-buf"))
    assert nccl_log.transport_name(evidence) == nccl_log.INFINIBAND_DIRECT
    assert (evidence["gpu_direct"], evidence["devices"]) == ({"DMA-BUF": 1}, {"mlx5_2": "IB"})


@pytest.mark.field_report("B3")
@pytest.mark.parametrize(("gpu", "way"), [("", "nvidia-peermem"), ("DMA-BUF is available on GPU device 0", "DMA-BUF")])
def test_of_hpc_xs_hcas_that_can_do_both_the_gpu_decides(gpu: str, way: str) -> None:
    text = excerpt("gpudirect-hpcx")
    received = text.replace("[send]", "[receive]").splitlines()[-1]
    evidence = nccl_log.read_log(f"{text}{received}\nvm:1:1 [0] NCCL INFO {gpu}\n")
    assert evidence["gpu_direct"] == {way: 1}
    assert nccl_log.transport_name(evidence) == nccl_log.INFINIBAND_DIRECT


def test_the_simulated_nccl_names_devices_and_channels_as_the_real_one_does() -> None:
    hcas = [{"name": f"mlx5_ib{index}", "link": "IB"} for index in range(8)]
    lines = [*nccl_words.opening(hcas), *nccl_words.opening([])]
    recorded = [line.partition("NCCL INFO ")[2] for name in ("sharp-h100", "sockets-azure") for line in lines_of(name)]
    for start in ("NET/IB : Using", "NET/IB : No device found.", "NET/Socket : Using", "Using network Socket"):
        (real,) = {shape(line) for line in recorded if line.startswith(start)}
        assert real in {shape(line) for line in lines}, start


def test_the_simulated_nccl_says_of_gpu_and_hcas_what_they_can_in_the_real_ones_words() -> None:
    ranks = [
        {"node": node, "gpu": 0, "hcas": [{"name": "mlx5_0"}, {"name": "mlx5_2"}], "ways": ["dma_buf"]}
        for node in ("n013", "n014")
    ]
    said = [*nccl_words.met(0, ranks), *nccl_words.connecting(Fabric("IB", True, 24.0, 0.0), 0, ranks)]
    recorded = [line.partition("NCCL INFO ")[2] for line in lines_of("gpudirect-dma-buf")]
    told = [line for line in recorded if line.startswith(("DMA-BUF", "NET/IB : GPU Direct"))]
    assert [line for line in said if line in recorded] == told
    bare = [{**rank, "ways": []} for rank in ranks]
    without = [*nccl_words.met(0, bare), *nccl_words.connecting(Fabric("IB", False, 24.0, 0.0), 0, bare)]
    assert [line for line in without if "DMA-BUF" in line or "Enabled" in line or "GDRDMA" in line] == []


def lines_of(name: str) -> list[str]:
    return excerpt(name).splitlines()


def shape(line: str) -> str:
    """Without addresses, what HPC-X's plugin adds, and the Ethernet device."""
    line = re.sub(r" \[\d+\]\S+/RoCE", "", line).replace("/SHARP", "")
    return re.sub(r"(OOB|\[0\]) ?\w+:[\d.]+<0>", r"\1", line)
