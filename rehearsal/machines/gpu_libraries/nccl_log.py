"""NCCL's log with NCCL_DEBUG=INFO: its own lines (NCCL 2.28), for the connections of a simulated job."""

import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rehearsal.machines.gpu_libraries import machine
from rehearsal.machines.gpu_libraries.simulation import Fabric, lost_rails, one_clique

VERSION = "2.28.9"
RCCL_VERSION = "2.27.7"
"""Version in ROCm 7.2.4."""
_PORT = 44206
"""Port of a peer's end: some port that the kernel has given it."""


def write(lines: Iterator[str], gpu: int, level: str = "INFO") -> None:
    """Append lines to the file of NCCL_DEBUG_FILE, else print them; nothing below the level that is set."""
    wanted = os.environ.get("NCCL_DEBUG", "").upper()
    if wanted not in ({"INFO", "TRACE"} if level == "INFO" else {"WARN", "INFO", "TRACE"}):
        return
    pid = os.getpid()
    text = "".join(f"{socket.gethostname()}:{pid}:{pid} [{gpu}] NCCL {level} {line}\n" for line in lines)
    target = os.environ.get("NCCL_DEBUG_FILE")
    if target:
        with Path(target).open("a") as file:
            file.write(text)
    else:
        print(text, end="", flush=True)


def opening(hcas: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The search for a network."""
    if machine.is_rocm():
        yield from _rccl()
    else:
        yield "cudaDriverVersion 13010"
        yield f"NCCL version {VERSION}+cuda13.1"
    address = os.environ.get("REHEARSAL_POD_IP") or "192.0.2.2"
    if hcas:
        using = " ".join(f"[{number}]{hca['name']}:1/{hca['link']}" for number, hca in enumerate(hcas))
        yield f"NET/IB : Using {using} [RO]; OOB eth0:{address}<0>"
        yield "Initialized NET plugin IB"
        yield "Using network IB"
        return
    yield "NET/IB : No device found."
    yield f"NET/IB : Using [RO]; OOB eth0:{address}<0>"
    yield "Failed to initialize NET plugin IB"
    yield f"NET/Socket : Using [0]eth0:{address}<0>"
    yield "Using network Socket"


def _rccl() -> Iterator[str]:
    """RCCL's head, which reports DMA-BUF (tests/field_recordings/rccl.yaml)."""
    yield "ROCr version 1.18"
    if machine.dma_buf():
        yield "NCCL_DMABUF_ENABLE set by environment to 1."
        yield "DMA_BUF Support Enabled"
    else:
        yield "Dmabuf feature disabled without NCCL_DMABUF_ENABLE=1"
    yield f"RCCL version : {RCCL_VERSION}-HEAD:29e1567"


def met(rank: int, ranks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A rank's words on itself and its node when all have met; nothing is connected yet."""
    mine, local = ranks[rank], _local(rank, ranks)
    nodes = len({rank["node"] for rank in ranks})
    sizes = f"nRanks {len(ranks)} nNodes {nodes} localRanks {len(local)} localRank {local.index(rank)}"
    mnnvl = nodes > 1 and one_clique(ranks)
    if mnnvl:
        clique = f"cliqueId {mine['nvlink']['clique']:x} cliqueSize {len(ranks)} cliqueRank {rank}"
        yield f"MNNVL 1 {clique}"
        # To NCCL the machines of a clique are one node.
        sizes = f"nRanks {len(ranks)} nNodes 1 localRanks {len(ranks)} localRank {rank}"
    yield f"comm 0x1 rank {rank} {sizes} MNNVL {int(mnnvl)}"
    if not machine.is_rocm():  # of RCCL no such line is recorded
        yield from _ways(mine)
    who = f"rank {rank} nranks {len(ranks)} cudaDev 0 nvmlDev 0 busId 60 commId 0x1"
    yield f"ncclCommInitRank comm 0x1 {who} - Init COMPLETE"


def _ways(mine: Mapping[str, Any]) -> Iterator[str]:
    if mine["hcas"] and "dma_buf" in mine["ways"]:
        yield f"DMA-BUF is available on GPU device {mine['gpu']}"
    gdr = "Enabled" if mine["ways"] else "Disabled"
    for number, hca in enumerate(mine["hcas"]):
        yield f"NET/IB : GPU Direct RDMA {gdr} for HCA {number} '{hca['name']}'"


def connecting(fabric: Fabric, rank: int, ranks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """One ring through all ranks on every rail; between nodes the rail with the number of the rank."""
    local = _local(rank, ranks)
    own = local.index(rank)
    end = f" comm 0x1 nRanks {len(ranks):02d}" if machine.is_rocm() else ""
    if fabric.transport in ("P2P", "MNNVL"):
        way = _within() if fabric.transport == "P2P" else "P2P/MNNVL"
        for channel in range(24):
            peer = (rank + 1) % len(ranks)
            yield f"Channel {channel:02d}/0 : {rank}[{own}] -> {peer}[{ranks[peer]['gpu']}] via {way}{end}"
    else:
        yield from (f"{line}{end}" for line in _between_nodes(fabric, rank, ranks, local))
    yield f"Connected all rings, use ring PXN 0 GDR {int(fabric.direct and fabric.transport == 'IB')}"


def _within() -> str:
    """The path between ranks of one node; RCCL's word is assumed."""
    return "P2P/IPC" if machine.is_rocm() else "P2P/CUMEM"


def _local(rank: int, ranks: Sequence[Mapping[str, Any]]) -> list[int]:
    """The ranks of a rank's node."""
    return [number for number, other in enumerate(ranks) if other["node"] == ranks[rank]["node"]]


def _between_nodes(fabric: Fabric, rank: int, ranks: Sequence[Mapping[str, Any]], local: list[int]) -> Iterator[str]:
    mine = ranks[rank]
    own = local.index(rank)
    before, after = (rank - len(local)) % len(ranks), (rank + len(local)) % len(ranks)
    rails = max(1, len(mine["hcas"]))
    gdr = "/GDRDMA" if fabric.direct else ""
    for rail in (rail for rail in range(rails) if rail % len(local) == own or (rails < len(local) and own == 0)):
        via = f"via NET/{fabric.transport}/{rail}{gdr}"
        yield f"Channel {rail:02d}/0 : {before}[{own}] -> {rank}[{own}] [receive] {via}"
        yield f"Channel {rail:02d}/0 : {rank}[{own}] -> {after}[{own}] [send] {via}"
    if len(local) > 1:
        peer = local[(own + 1) % len(local)]
        yield f"Channel 00/0 : {rank}[{own}] -> {peer}[{ranks[peer]['gpu']}] via {_within()}"


def no_channel(ranks: int) -> str:
    """The warning if GPUs of several machines share a clique and a rank's container lacks an IMEX channel."""
    return (
        f"MNNVL (cliqueSize {ranks}) is available but not working on this system. Check the IMEX channel configuration "
        "(/dev/nvidia-caps-imex-channels). Set NCCL_MNNVL_ENABLE=0 to ignore this issue."
    )


def unreached(rank: int, ranks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The warning if ranks cannot connect: the end that receives says so, the others see connections closed.

    The last line is not the first error: completions of other requests follow.
    """
    mine = ranks[rank]
    before = ranks[(rank - len(_local(rank, ranks))) % len(ranks)]
    peer = f"{before['address']}<{_PORT}>"
    for device in lost_rails(mine, before):
        for status in ("IBV_WC_RETRY_EXC_ERR(12)", "IBV_WC_WR_FLUSH_ERR(5)"):
            said = (
                f"with status={status} opcode=IBV_WC_RDMA_WRITE(1) reqSize=0 vendor_err=129 req_type=Recv hca {device}"
            )
            yield f"NET/IB: Got completion from peer {peer} {said}"
    yield f"socketProgress: Connection closed by remote peer {peer}"
