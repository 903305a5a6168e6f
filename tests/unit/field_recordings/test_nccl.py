"""NCCL's words on Azure are read rightly, and the simulated NCCL has the same words."""

import re

from rehearsal.machines.gpu_libraries import nccl_log as nccl_words
from rehearsal.machines.gpu_libraries.simulation import Fabric
from tests.unit.field_recordings.recordings import excerpt


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
