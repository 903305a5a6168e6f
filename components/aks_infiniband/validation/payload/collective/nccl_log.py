"""The statements of NCCL and RCCL on their work (NCCL_DEBUG=INFO), read into plain data: the transport that connects
the ranks.

Only what was connected counts. That a device was found, or that GPUDirect RDMA is "Enabled" for it, says what could be
used; the lines ``Channel …: a[…] -> b[…] … via …`` say what is (NCCL, src/transport/{net,p2p,shm}.cc). The lines' forms
are those of NCCL 2.5 to 2.28, and of RCCL 2.18 to 2.30 (tests/field_recordings/rccl.yaml).

Such lines do not name the way from HCAs to GPUs' memory. NCCL takes DMA-BUF if GPU and HCA have it, else nvidia-peermem
(NVIDIA/nccl 5067397, src/transport/net.cc, useDmaBuf). For the GPU it says ``DMA-BUF is available``. For HCAs its own
network says ``Enabled`` for either, HPC-X's plugin ``(DMABUF) enabled`` and ``(nvidia-peermem) enabled``.

RCCL says ``DMA_BUF Support Enabled`` of the machine instead. With AMD's GPUs, amdgpu's peer memory with OFED takes the
place of nvidia-peermem. DMA-BUF goes before it, and from ROCm 7.12 on after it, which RCCL then says: ``Using GPU
Direct RDMA (peermem) for device`` (ROCm/rocm-systems pull request 3607, 2026-02-27).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TypedDict, TypeVar

INFINIBAND_DIRECT = "InfiniBand with GPUDirect RDMA"
INFINIBAND_STAGED = "InfiniBand through host memory, without GPUDirect RDMA"
ROCE_DIRECT = "RoCE with GPUDirect RDMA"
ROCE_STAGED = "RoCE through host memory, without GPUDirect RDMA"
SOCKETS = "TCP sockets"
SHARED_MEMORY = "shared memory of the host"
NVLINK = "NVLink between machines (MNNVL)"
PEER_TO_PEER = "peer to peer within the host (NVLink or PCIe)"
MULTICAST = "NVLink multicast within the host (NVLS)"
NONE = "none seen"


class Evidence(TypedDict):
    """The statements in NCCL's log; None or empty if it does not say.

    ``channels`` counts connections by kind, such as ``NET/IB/GDRDMA receive`` or ``P2P/CUMEM``; ``devices`` maps each
    network device that carries a channel to its link (``IB``, ``RoCE``, or None if the log does not name it).
    ``gpu_direct`` counts logs by the way in which HCAs reach GPUs' memory; none if they do not. ``dma_buf`` is
    whether every GPU offers DMA-BUF, ``hcas_direct`` whether every HCA could do GPUDirect RDMA, whatever it then does.
    """

    library: str | None
    network: str | None
    ranks: int | None
    nodes: int | None
    channels: dict[str, int]
    proxied: dict[str, int]
    devices: dict[str, str | None]
    gpu_direct: dict[str, int]
    dma_buf: bool | None
    hcas_direct: bool | None
    nvls_channels: int
    warnings: list[str]


_PROXY_TRANSPORTS = {"0": "P2P", "1": "SHM", "2": "NET", "3": "COLLNET"}
"""Numbers of NCCL's transports in ``New proxy … connection … transport N`` (NCCL, src/include/transport.h)."""
_WARNINGS_KEPT = 5
_WARNING_LENGTH = 300

_Value = TypeVar("_Value")
_INFO = re.compile(r"\bNCCL (INFO|WARN) ")
_VERSION = re.compile(r"\b(NCCL|RCCL) version\s*:?\s*(\d[^\s,]*)")
_CHANNEL = re.compile(
    r"(?:Channel|Ring) \d+(?:/\d+)? : \d+(?:\[\w+\])? -> \d+(?:\[\w+\])? "
    r"(?:\[(?P<way>send|receive)\] )?via (?P<what>NET/[^/]+/\S+|\S+)"
)
_NET = re.compile(r"NET/(?P<plugin>[^/]+)/(?P<device>\d+)(?:\(\d+\))?(?P<gdr>/GDRDMA)?")
_USING_IB = re.compile(r"NET/IB\w* : Using (?P<devices>(?:\[\d+\]\S+ ?)+)")
_IB_DEVICE = re.compile(r"\[(\d+)\]([^\s:]+):\d+/(IB|RoCE)")
_NETWORK = re.compile(r"Using network (\S.*)")
_TOPOLOGY = re.compile(r"nRanks (\d+) nNodes (\d+)")
_PROXY = re.compile(r"New proxy (?:recv|send) connection \d+ from local rank \d+, transport (\d)")
_NVLS = re.compile(r"(\d+) nvls channels")
_DMA_BUF = re.compile(r"DMA-BUF is available on GPU device|DMA_BUF Support Enabled")
_RCCL_WAY = re.compile(r"Using GPU Direct RDMA \((\w+)\) for device", re.IGNORECASE)
_HCA_DIRECT = re.compile(r": GPU Direct RDMA (?:\((\S+)\) )?(Enabled|Disabled) for HCA", re.IGNORECASE)


def read_log(text: str) -> Evidence:
    """Everything of use in one log, or in several that ran together."""
    lines = [line for line in text.splitlines() if _INFO.search(line)]
    named = _named_devices(lines)
    channels: Counter[str] = Counter()
    devices: dict[str, str | None] = {}
    for match in filter(None, map(_CHANNEL.search, lines)):
        net = _NET.match(match["what"])
        if net is None:
            channels[match["what"]] += 1
            continue
        channels[f"NET/{net['plugin']}{net['gdr'] or ''} {match['way']}"] += 1
        if is_infiniband(net["plugin"]):
            name, link = named.get(net["device"], (f"NET/{net['plugin']}/{net['device']}", None))
            devices[name] = link
    topology, version = _last(_TOPOLOGY, lines), _last(_VERSION, lines)
    dma_buf = any(map(_DMA_BUF.search, lines))
    proxied = Counter(_PROXY_TRANSPORTS.get(number, number) for number in _all(_PROXY, lines))
    return {
        "library": f"{version[1]} {version[2]}" if version else None,
        "network": next(iter(_all(_NETWORK, lines)), None),
        "ranks": int(topology[1]) if topology else None,
        "nodes": int(topology[2]) if topology else None,
        "channels": dict(sorted(channels.items())),
        "proxied": dict(sorted(proxied.items())),
        "devices": dict(sorted(devices.items())),
        "gpu_direct": _gpu_direct(lines, dma_buf=dma_buf) if "/GDRDMA" in "".join(channels) else {},
        "dma_buf": dma_buf if _last(_NETWORK, lines) else None,
        "hcas_direct": _all_of(hit[2].lower() == "enabled" for hit in map(_HCA_DIRECT.search, lines) if hit),
        "nvls_channels": max((int(number) for number in _all(_NVLS, lines)), default=0),
        "warnings": warnings_of(lines),
    }


def _gpu_direct(lines: Sequence[str], *, dma_buf: bool) -> dict[str, int]:
    """A count of one for the way in which HCAs reach GPUs' memory. dma_buf: whether the GPU offers it."""
    version, told = _last(_VERSION, lines), _last(_RCCL_WAY, lines)
    if version and version[1] == "RCCL":
        by_dma_buf = told[1].lower() == "dmabuf" if told else dma_buf
        return {"DMA-BUF" if by_dma_buf else "amdgpu's peer memory": 1}
    named = [match[1] for match in map(_HCA_DIRECT.search, lines) if match and match[1]]
    return {"DMA-BUF" if dma_buf and (not named or "DMABUF" in named) else "nvidia-peermem": 1}


def is_infiniband(plugin: str) -> bool:
    """True if a network of this name goes over verbs: NCCL's own, or HPC-X's (IBext_v8, NCCL RDMA Plugin v9)."""
    return plugin.startswith(("IB", "NCCL RDMA Plugin"))


def together(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several ranks as one."""
    channels: Counter[str] = sum((Counter(part["channels"]) for part in parts), Counter())
    proxied: Counter[str] = sum((Counter(part["proxied"]) for part in parts), Counter())
    devices = {name: link for part in parts for name, link in part["devices"].items()}
    warnings = dict.fromkeys(text for part in parts for text in part["warnings"])
    return {
        "library": _first(part["library"] for part in parts),
        "network": _first(part["network"] for part in parts),
        "ranks": _first(part["ranks"] for part in parts),
        "nodes": _first(part["nodes"] for part in parts),
        "channels": dict(sorted(channels.items())),
        "proxied": dict(sorted(proxied.items())),
        "devices": dict(sorted(devices.items())),
        "gpu_direct": dict(sum((Counter(part["gpu_direct"]) for part in parts), Counter())),
        "dma_buf": _all_of(part["dma_buf"] for part in parts),
        "hcas_direct": _all_of(part["hcas_direct"] for part in parts),
        "nvls_channels": max((part["nvls_channels"] for part in parts), default=0),
        "warnings": list(warnings)[:_WARNINGS_KEPT],
    }


def transport_name(evidence: Evidence) -> str:
    """The name of the transport. If anything goes between nodes, it is the one between nodes; of several it is the
    slowest.

    The receiving side decides if it is GPUDirect RDMA. For sending NCCL has another rule, and older GPUs receive
    directly while that rule keeps them from sending directly.
    """
    channels = evidence["channels"]
    nets = {key.partition("/")[2] for key in channels if key.startswith("NET/")}
    if any(net.startswith("Socket") for net in nets):
        return SOCKETS
    if any(is_infiniband(net) for net in nets):
        received = [net for net in nets if net.endswith("receive")]
        direct = bool(received) and all("/GDRDMA" in net for net in received)
        if "RoCE" in evidence["devices"].values():
            return ROCE_DIRECT if direct else ROCE_STAGED
        return INFINIBAND_DIRECT if direct else INFINIBAND_STAGED
    if nets:
        return "network plugin " + ", ".join(sorted({re.split(r"[ /]", net)[0] for net in nets}))
    return _within_the_host(evidence)


def _within_the_host(evidence: Evidence) -> str:
    kinds = {key.partition("/")[0] for key in evidence["channels"]} or set(evidence["proxied"])
    if "SHM" in kinds:
        return SHARED_MEMORY
    if any(channel.startswith("P2P/MNNVL") for channel in evidence["channels"]):
        return NVLINK
    if evidence["nvls_channels"]:
        return MULTICAST
    return PEER_TO_PEER if "P2P" in kinds else NONE


def _named_devices(lines: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Number to name and link of the devices that NCCL opened."""
    devices = {}
    for match in filter(None, map(_USING_IB.search, lines)):
        for number, name, link in _IB_DEVICE.findall(match["devices"]):
            devices[number] = (name, link)
    return devices


def warnings_of(lines: Sequence[str]) -> list[str]:
    """The warnings in lines of a log, each once, the first few."""
    texts = (line.partition("NCCL WARN ")[2].strip()[:_WARNING_LENGTH] for line in lines if "NCCL WARN " in line)
    return list(dict.fromkeys(text for text in texts if text))[:_WARNINGS_KEPT]


def _all(pattern: re.Pattern[str], lines: Sequence[str]) -> list[str]:
    return [match[1] for match in map(pattern.search, lines) if match]


def _last(pattern: re.Pattern[str], lines: Sequence[str]) -> re.Match[str] | None:
    return next((match for match in map(pattern.search, reversed(lines)) if match), None)


def _first(values: Iterable[_Value | None]) -> _Value | None:
    return next((value for value in values if value is not None), None)


def _all_of(said: Iterable[bool | None]) -> bool | None:
    """None if no rank said anything."""
    known = [value for value in said if value is not None]
    return all(known) if known else None
