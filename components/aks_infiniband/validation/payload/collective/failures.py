"""Why a rank of an all-reduce failed, and which of several failures caused the others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from ..programs.endings import CAUSES, SILENT_NODE


class Failure(TypedDict):
    """How a rank failed.

    own: whether it ended by itself; if not, its launcher ended it. output: the end of what it printed. part: see CAUSE.
    peer: the rank that it does not reach, first by address, later by the name of its node.
    """

    reason: str
    own: bool
    output: str | None
    part: str
    cause: str
    peer: str | None


class PlacedFailure(Failure):
    """Whose failure it is, and the message size that the rank had reached."""

    node: str
    gpu: int
    rank: int
    reached_bytes: int | None


_CAUSES = (
    (
        r"the image has no libnccl|lib(cudart|amdhip64)\S*: cannot open shared object",
        "the image has no NCCL, or no CUDA runtime for it: name one that has in validation.image",
    ),
    (
        r"libcuda\S*: cannot open shared object",
        "the pod has no GPU driver: look at the GPUs' device plugin",
    ),
    (
        r"address already in use|EADDRINUSE",
        "another process took the port at which the ranks meet, between its being chosen and being used: measure again",
    ),
    (
        r"(shared memory|posix_fallocate|/dev/shm).*No space left on device",
        "shared memory is too small for NCCL: mount a memory-backed emptyDir at /dev/shm",
    ),
    (r"No space left on device", "a disk is full: the node's, or in a rehearsal this computer's"),
    # Of verbs by their errno: nv_peer_memory issues 115 and 121, mscclpp issue 657, nccl issues 778, 1842 and 2013.
    (
        r"Cannot allocate memory",
        "memory cannot be registered with the HCA: the pod lacks IPC_LOCK, or does not run as root",
    ),
    (
        r"ibv_reg_\w+.*(Bad address|Invalid argument|Operation not supported|error (14|22|95)\b)",
        "GPU memory cannot be registered with the HCA: nvidia-peermem is not loaded or does not suit the driver, and "
        "DMA-BUF is off or not supported (lsmod | grep nvidia_peermem on the node)",
    ),
    (
        r"ibv_\w+.*(Operation not permitted|Permission denied|error (1|13)\b)",
        "the HCA's driver refuses the pod: its device file is in the pod and was not handed out by a device plugin, or "
        "the container lacks a right (securityContext of podTemplate)",
    ),
    (
        r"ibv_modify_qp.*(Invalid argument|\b22\b)",
        "the two ends do not agree about the connection: another GID index, MTU or link layer (NCCL_IB_GID_INDEX)",
    ),
    (
        r"ibv_(open_device|query_\w+|get_device_list).*(No such device|No such file|Input/output error)",
        "the HCA is gone, or its device file is not in the pod: ibv_devinfo in the pod, and dmesg on the node",
    ),
    (
        r"Cuda failure 801|cuMem\w+.*(operation not (supported|permitted))|CUDA_ERROR_NOT_(SUPPORTED|PERMITTED)",
        "GPUs of other machines cannot be reached by NVLink: the pod has no channel of a ComputeDomain (claim of the "
        "podTemplate), or the node's IMEX daemon is not ready",
    ),
    (
        r"driver/library version mismatch",
        "the GPU driver's kernel module and its libraries are of two versions: reboot the node, or reimage it",
    ),
    (
        r"Duplicate GPU detected",
        "two ranks of a node have one GPU: the pod has fewer GPUs than it says, or CUDA_VISIBLE_DEVICES is set",
    ),
    (
        r"system not yet initialized|Cuda failure 802",
        "the GPUs' NVSwitches are not set up: nvidia-fabricmanager does not run on the node, or is not of the GPU "
        "driver's version (systemctl status nvidia-fabricmanager)",
    ),
    (
        r"invalid device ordinal|no CUDA-capable device|no ROCm-capable device|CUDA driver (version|initialization)"
        r"|busy or unavailable|initialization error|unsupported display driver|driver is a stub|forward compatibility"
        r"|newer driver|installed CUDA driver|OS call failed|unknown error",
        "the GPU is not there, or its driver does not suit the image's CUDA: nvidia-smi on the node tells",
    ),
    (
        r"no kernel image is available|unsupported toolchain|kernel image is invalid",
        "the image's NCCL has no code for this GPU: name one that has in validation.image",
    ),
    (
        r"uncorrectable (ECC|NVLink)|Xid|illegal memory access|device-side assert|unspecified launch failure"
        r"|hardware error|peer GPU memory|illegal instruction|hardware stack error|misaligned address"
        r"|invalid program counter|launch timed out|GPU is lost|fallen off the bus",
        "the GPU failed: dmesg | grep -i xid on the node tells how; recreate the node",
    ),
    (r"out of memory|OutOfMemory", "the GPU has too little free memory: something else runs on it"),
    (
        r"async (fatal )?event ?: (port error|local catastrophic|.*access violation)",
        "the node's own HCA or its link failed while it was used: look at its error counters, and at dmesg on the node",
    ),
    (
        r"Mismatched NCCL version|NCCL version mismatch",
        "the nodes have different versions of NCCL: name one image, by its digest, in validation.image",
    ),
    (
        r"no socket interface found|No usable listening interface",
        "NCCL finds no network interface to meet by: look at NCCL_SOCKET_IFNAME of the pool's ConfigMap and of the "
        "image",
    ),
    (
        r"Failed to initialize (any )?NET plugin|invalid usage",
        "NCCL has not the network that its environment asks for: look at NCCL_* of the pool's ConfigMap",
    ),
)
_COMPLETION = re.compile(r"Got completion .*?(?:status=|error )\(?(?:IBV_WC_\w+[()]+)?(\d+)")
"""How NCCL tells a completion's status. 2.18: "with error 12"; to 2.27 "with status=12"; from 2.28 on
"with status=IBV_WC_RETRY_EXC_ERR(12)"; 2.32 "with error (devIndex=0, wc->status=(IBV_WC_RETRY_EXC_ERR)12".
"""
_LOCAL_MEMORY = (
    "the HCA may not reach the GPU's memory: GPUDirect RDMA does not work on the node (ACS of a PCIe switch, or an "
    "nvidia-peermem that does not suit the driver)"
)
_REMOTE_MEMORY = (
    "the peer's HCA could not carry it out: it may not reach the memory of its GPU, so GPUDirect RDMA does not work "
    "there; packets do arrive"
)
_OWN_HCA = "the node's own HCA failed while it was used: look at its error counters, and at dmesg on the node"
_STATUSES = {
    1: "a message was longer than its buffer: the nodes have different versions of NCCL or of its plugin",
    2: "the HCA refuses the operation: its driver or firmware does not suit NCCL's plugin",
    4: _LOCAL_MEMORY,
    8: _LOCAL_MEMORY,
    9: _REMOTE_MEMORY,
    10: _REMOTE_MEMORY,
    11: _REMOTE_MEMORY,
    7: _OWN_HCA,
    20: _OWN_HCA,
    22: _OWN_HCA,
}
"""The cause by a completion's status, of those that say whose it is (rdma-core, libibverbs/verbs.h, ibv_wc_status)."""
_FLUSHED = 5
"""IBV_WC_WR_FLUSH_ERR: the connection had failed before, for a reason that another completion has."""
_NOT_READY = "it answers, and was not ready to receive: its process hangs, or has ended"
_NOT_FOUND = (
    "the peer's address was not found from this device: it is an Ethernet device, or the two NICs are of two rails or "
    "subnets (NCCL_IB_HCA, NCCL_IB_GID_INDEX)"
)
_LOST = {12: CAUSES["lost"], 13: _NOT_READY, 21: CAUSES["lost"]}
"""The same of the statuses with which a peer is not reached."""
_UNREACHED = (
    (re.compile(r".*transport retry counter exceeded"), CAUSES["lost"]),
    (
        re.compile(r".*ibv_modify_qp.*(Connection timed out|\b110\b|No route to host|Network is unreachable)"),
        _NOT_FOUND,
    ),
    (
        re.compile(
            r".*[Cc]onnect\b.*?(returned|failed)\b.*?(Connection timed out|No route to host)"
            r"|.*SocketPollConnect.*(Connection timed out|No route to host|failed)"
        ),
        CAUSES["dropped"],
    ),
)
"""What a rank says that does not reach a peer, and the likely cause. Neither end has said that the fault is its own."""
_PEER = re.compile(r"(?:to|from|peer) (\S+?)<\d+>")
_CONSEQUENCES = re.compile(
    r"remote process exited|closed by (remote )?peer|Connection was likely closed|Connection (reset|refused)"
    r"|Broken pipe|connection abort"
    r"|Socket recv failed|exceeded (error )?(retr|timeouts)|has no unique id for the ranks",
    re.IGNORECASE,
)
_WAITED = re.compile(r"collective operation timeout")
"""What a rank says at its own time limit (nccl.py). It has one because NCCL waits for ever."""
_HANGS = "it no longer answers, and the others wait for it: the GPU hangs (dmesg | grep -i xid), or the process does"

_PODS_END = (
    "the status of the node's pods of the Job says why: OOMKilled, exit code 137, is a limit of memory that is too "
    "small for NCCL and its shared memory, or a node without enough of it (free it, or give the pool larger machines); "
    "Evicted and deleted pods have their cause beside them"
)

CAUSE, UNREACHED, FOLLOWED, WAITED, STOPPED = "cause", "unreached", "followed", "waited", "stopped"
"""The part that a rank has in a failure: it has a reason of its own, it does not reach a peer, it says that another
rank has gone, it waited in vain, or its launcher ended it.
"""


def likely_cause(reason: str, words: str | None) -> str | None:
    """The likely cause of one rank's failure; None where its words are not known."""
    if "SIGKILL" in reason:
        return "the process was killed: by the kernel for want of memory (dmesg | grep -i oom), or by hand"
    if "SIGBUS" in reason:
        return "shared memory or a mapped file has no room: mount a memory-backed emptyDir at /dev/shm"
    known = next((cause for pattern, cause in _CAUSES if re.search(pattern, words or "", re.IGNORECASE)), None)
    return known or next((_STATUSES[status] for status, _ in _statuses(words or "") if status in _STATUSES), None)


def _statuses(words: str) -> Iterator[tuple[int, str]]:
    """The status of each completion that failed, with its line."""
    for line in words.splitlines():
        if found := _COMPLETION.search(line):
            yield int(found[1]), line


def _unreached(words: str) -> tuple[str | None, str] | None:
    """The address of a peer that is not reached, where it is told, and why; None where the words do not say so."""
    lost = [(line, _LOST[status]) for status, line in _statuses(words) if status in _LOST]
    lost += [(found[0], why) for said, why in _UNREACHED if (found := said.search(words))]
    if not lost:
        return None
    line, why = lost[0]
    peer = _PEER.search(line)
    return (peer[1] if peer else None), why


def explained(reason: str, *, own: bool, output: str | None, warned: Sequence[str] = ()) -> Failure:
    """A failure with its part and its likely cause. It is made while everything that the rank said is still at hand.

    A rank that its launcher ended may still have said what it waited for.

    warned: NCCL's warnings, in their order. NCCL calls its last warning the last error, but that is often about a
    connection that was closed after the rank had failed.
    """
    words = "\n".join([output or "", *warned])
    cause = likely_cause(reason, output) or likely_cause(reason, words)
    unreached = _unreached(words)
    flushed = any(status == _FLUSHED for status, _ in _statuses(words))
    own_cause = cause is not None and (own or likely_cause("", "\n".join(warned)) is not None)
    kinds = {
        CAUSE: own_cause,
        UNREACHED: unreached,
        WAITED: _WAITED.search(words),
        FOLLOWED: _CONSEQUENCES.search(words) or flushed,
    }
    part = next((kind for kind, is_so in kinds.items() if is_so), CAUSE if own else STOPPED)
    lines = [line.strip() for line in (output or "").splitlines() if line.strip()]
    last = f"its last words: {lines[-1][:300]}" if lines else "it said nothing: kubectl describe its pod"
    peer = unreached[0] if unreached and part == UNREACHED else None
    why = f"it does not reach {peer or 'a peer'}: {unreached[1]}" if unreached else last
    return {"reason": reason, "own": own, "output": output, "part": part, "cause": cause or why, "peer": peer}


def silent(node: str, *, first_rank: int, ranks: int, replaced: int = 0) -> list[PlacedFailure]:
    """The failures of a node that did not answer. replaced: how often its pod ended meanwhile."""
    failure: Failure = {
        "reason": f"its pod ended in the middle of it, {replaced} times" if replaced else SILENT_NODE,
        "own": False,
        "output": None,
        "part": CAUSE,
        "cause": _PODS_END if replaced else CAUSES["silent"],
        "peer": None,
    }
    return [
        {**failure, "node": node, "gpu": gpu, "rank": first_rank + gpu, "reached_bytes": None} for gpu in range(ranks)
    ]


def with_names(failure: PlacedFailure, nodes: Mapping[str, str]) -> PlacedFailure:
    """A failure whose peer is named. nodes: names by the addresses of their pods."""
    peer = failure.get("peer")
    if peer is None or peer not in nodes:
        return failure
    return {
        **failure,
        "peer": nodes[peer],
        "cause": failure["cause"].replace(f"reach {peer}:", f"reach {nodes[peer]}:"),
    }


def culprits(failures: Sequence[PlacedFailure]) -> list[PlacedFailure]:
    """The failures that caused the others.

    If two nodes do not reach each other, nobody knows which is at fault, unless one of them is in every such pair. If
    ranks waited in vain, the cause is the ranks that had to be ended: the first rank that gives up ends the others'
    wait, and the others say that it has gone. If no failure stands out, all are returned.
    """
    parts = (CAUSE, UNREACHED, WAITED, STOPPED)
    by_part = {part: [failure for failure in failures if failure["part"] == part] for part in parts}
    if by_part[CAUSE]:
        return by_part[CAUSE]
    if by_part[UNREACHED]:
        return _of_every_pair(failures) or by_part[UNREACHED]
    if by_part[WAITED] and by_part[STOPPED]:
        return [{**failure, "cause": _HANGS} for failure in by_part[STOPPED]]
    return list(failures)


def _of_every_pair(failures: Sequence[PlacedFailure]) -> list[PlacedFailure]:
    """If one node is in every pair that does not reach each other, that node's failures; otherwise none.

    A single pair does not tell which of its two nodes it is.
    """
    lost = [failure for failure in failures if failure["part"] == UNREACHED]
    pairs = {frozenset((failure["node"], failure["peer"] or "")) for failure in lost}
    common = frozenset.intersection(*pairs)
    if len(pairs) < 2 or len(common) != 1 or "" in common:
        return []
    (node,) = common
    others = sorted({name or "a peer" for pair in pairs for name in pair - common})
    cause = f"it and {' and '.join(others)} do not reach each other: {lost[0]['cause'].partition(': ')[2]}"
    return [{**failure, "cause": cause} for failure in failures if failure["node"] == node]
