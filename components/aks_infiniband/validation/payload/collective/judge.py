"""The runs of the all-reduce to checks: pure functions, plain data in and out.

The run with the ring algorithm is judged, at the message size of its threshold. The run with NCCL's own choice is in
the report for comparison; it fails only if a rank fails or a sum is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..say.checks import Check, Try, fails, judged, make_check, not_measured, passes
from ..say.expectations import CollectivePlan, Threshold, limit_of, verdict_on
from ..say.lines import shown_bytes
from ..say.steadiness import Spread, is_wide, pointing
from ..talk.time_left import TIME_IS_UP
from .failures import culprits
from .nccl_log import INFINIBAND_DIRECT, INFINIBAND_STAGED, NONE, PEER_TO_PEER, SOCKETS, Evidence
from .results import Collective, Run, Size

JUDGED, COMPARED = "ring", "nccl"
"""The tunings of the runs over all nodes (part.TUNINGS)."""
_NO_WRONG = "no wrong element"

_TRANSPORT_CAUSES = {
    SOCKETS: "NCCL fell back to TCP sockets, without an error: it found no InfiniBand device that it may use. The pod "
    "lacks the RDMA resource or /dev/infiniband/uverbs*, the image lacks libibverbs and its mlx5 provider, or "
    "NCCL_IB_HCA matches no device",
}
_STAGED = "GPUDirect RDMA is off, and every byte takes the way through host memory: "
_NOT_NEAR = "NCCL says that HCAs could do it, and calls them too far from GPUs: set NCCL_NET_GDR_LEVEL=SYS"
_NO_WAY = {
    False: "nvidia-peermem is not loaded on the node (or was unloaded when the OFED driver was replaced), and the GPU "
    "offers no DMA-BUF, which takes NVIDIA's open kernel modules (driver.kernelModuleType) and Linux 5.12: set "
    "gpuDirect: nvidia-peermem, and if it is set look at the GPU driver's pod",
    True: "the GPU offers DMA-BUF, and the HCAs do not take it: their driver is older than Linux 5.12 or the image's "
    "libibverbs than rdma-core 34; and nvidia-peermem is not loaded on the node",
}
"""By whether every GPU offers DMA-BUF."""
_NO_WAY_OF_AMD = {
    False: "RCCL has DMA-BUF off: its environment lacks NCCL_DMABUF_ENABLE=1, which the pool's ConfigMap has, or the "
    "node's kernel lacks CONFIG_PCI_P2PDMA or CONFIG_DMABUF_MOVE_NOTIFY; and amdgpu lacks peer memory with OFED",
    True: "DMA-BUF is on, and the HCAs do not take it: their driver is older than Linux 5.12 or the image's libibverbs "
    "than rdma-core 34; and amdgpu lacks peer memory with OFED",
}
"""The same of RCCL."""
_ELSEWHERE = "the ranks did not connect over InfiniBand: look at NCCL_* of the pool's ConfigMap and of the image"


def judge_collective(collective: Collective, plan: CollectivePlan) -> list[Check]:
    """Checks of all runs; ``plan`` is what validation/pool_expectations.py says of the pool."""
    runs = {run["tuning"]: run for run in collective["runs"]}
    checks = [check for run in collective["runs"] for check in judge_run(run)]
    judged = runs.get(JUDGED)
    if judged is None or not judged["nodes"]:
        asked = {"collective-transport": plan["transport"], "all-reduce": None, "collective-sum": _NO_WRONG}
        return [*checks, *(not_measured(name, TIME_IS_UP, expected=value) for name, value in asked.items())]
    every = [*_transport(judged, plan), *_devices(judged, plan), *judge_bandwidth(judged, plan)]
    return [*checks, *every, *_launched(judged)]


def judge_run(run: Run) -> list[Check]:
    """Check that every rank of a run ended well, and with the right sum."""
    return [*_ended(run), *_sums(run)]


def falls_short(run: Run, plan: CollectivePlan) -> bool:
    """True if a run has to be repeated, because a check of it fails."""
    return any(check["verdict"] == "fail" for check in judge_collective({"runs": [run]}, plan))


def as_try(run: Run, plan: CollectivePlan) -> Try:
    """The result of one run, in the form in which a check lists its tries: value, error."""
    size = judged_size(run["sizes"], plan["thresholds"].get("infiniband"))
    first = run["failures"][0]["reason"] if run["failures"] else None
    return {"value": size and float(f"{size['bus_gb_per_s']:.4g}"), "error": first or run["stopped"]}


def _ended(run: Run) -> list[Check]:
    """Check that every rank ended well, and find the ranks that failed by themselves, not because another had."""
    asked = f"{run['ranks']} ranks, to their end"
    alike: dict[tuple[str, str, str], list[int]] = {}
    for failure in culprits(run["failures"]):
        alike.setdefault((failure["node"], failure["reason"], failure["cause"]), []).append(failure["gpu"])
    checks = [
        fails("collective", asked, f"{reason} ({run['tuning']})", cause, node=node, device=_gpus(gpus))
        for (node, reason, cause), gpus in alike.items()
    ]
    return checks or ([passes("collective", asked)] if run["ranks"] else [])


def _gpus(numbers: Sequence[int]) -> str:
    return "GPU " + ", ".join(map(str, numbers))


def _sums(run: Run) -> list[Check]:
    if not run["sizes"]:
        return []
    cause = (
        "the sum is wrong: data was changed on its way or in memory. Drain the node, look for Xid errors and growing "
        "InfiniBand error counters, and report it to Azure"
    )
    checks = []
    for wrong in run["wrong"]:
        seen, gpu = f"{wrong['elements']} wrong ({run['tuning']})", _gpus([wrong["gpu"]])
        checks.append(fails("collective-sum", _NO_WRONG, seen, cause, node=wrong["node"], device=gpu))
    return checks or [passes("collective-sum", _NO_WRONG)]


def _transport(run: Run, plan: CollectivePlan) -> list[Check]:
    name, asked = "collective-transport", plan["transport"]
    wrong = {node: seen for node, seen in run["transports"].items() if seen != asked}
    if not wrong:
        return [passes(name, asked, _direct(run))]
    if len(run["nodes"]) == 1 and run["transport"] != NONE:
        # Nothing leaves the node: no transport between nodes can be judged.
        alone = f"{run['transport']}; with one node nothing crosses InfiniBand"
        return [make_check(name, "not measured", expected=asked, measured=alone)]
    return [
        not_measured(name, "nothing was connected", expected=asked, node=node)
        if seen == NONE
        else fails(name, asked, seen, _transport_cause(seen, run["evidence"]), node=node)
        for node, seen in wrong.items()
    ]


def _transport_cause(seen: str, evidence: Evidence) -> str:
    if seen != INFINIBAND_STAGED:
        return _TRANSPORT_CAUSES.get(seen, _ELSEWHERE)
    ways = _NO_WAY_OF_AMD if (evidence.get("library") or "").startswith("RCCL") else _NO_WAY
    return _STAGED + (_NOT_NEAR if evidence["hcas_direct"] else ways[bool(evidence["dma_buf"])])


def _direct(run: Run) -> str:
    """The transport, and by which of the two ways HCAs reach the GPUs' memory."""
    ways = " and ".join(sorted(run["evidence"]["gpu_direct"]))
    return f"{run['transport']} ({ways})" if run["transport"] == INFINIBAND_DIRECT else run["transport"]


def _devices(run: Run, plan: CollectivePlan) -> list[Check]:
    """Check that all HCAs of each node carry a part. With fewer of them there is less bandwidth."""
    name, count = "collective-hcas", plan["hcas"]
    used = {node: devices for node, devices in run["devices"].items() if devices}
    if not used:
        return [not_measured(name, None, expected=count)]
    cause = "NCCL left HCAs unused: NCCL_IB_HCA excludes them, their port is not Active, or no topology file lists them"
    fewer = [
        fails(name, count, f"{len(devices)}: {', '.join(devices)}", cause, node=node)
        for node, devices in used.items()
        if len(devices) < count
    ]
    return fewer or [passes(name, count)]


def _launched(run: Run) -> list[Check]:
    """The remark if repetitions could not be launched as one: then small messages are bound by the launches."""
    refused = run.get("one_by_one")
    if not refused:
        return []
    cause = (
        f"all-reduces were launched one by one, because the GPU's library refused a graph of them ({refused}). Figures "
        "of 1 MiB and less are those of launches by Python, and say little of the network"
    )
    return [make_check("collective-launch", "not judged", expected="as a graph", measured="one by one", cause=cause)]


_SETTING = "that points at a setting or a part"
_CONGESTION = "that points at congestion, which comes and goes; measure again when the fabric is idle"
_UNITS = {"all-reduce": "GB/s", "all-reduce-nvlink": "GB/s", "all-reduce-small": "s"}


def judge_bandwidth(run: Run, plan: CollectivePlan) -> list[Check]:
    """Bus bandwidth against the threshold of the transport that was used, and the time of ten small ones."""
    kind = "nvlink" if run["transport"] == PEER_TO_PEER else "infiniband"
    bound = plan["thresholds"].get(kind)
    checks = [_busbw(run, bound)]
    if run["small"] is not None:
        small = run["small"]
        what = f"{small['repeats']} × {shown_bytes(small['bytes'])}"
        checks.append(_judged("all-reduce-small", small["seconds"], plan["small"], what, run))
    return checks


def _busbw(run: Run, bound: Threshold | None) -> Check:
    size = judged_size(run["sizes"], bound)
    if size is None:
        asked = bound["fail"] if bound else None
        cause = run["stopped"] or "the run did not come to the size that is judged"
        return not_measured("all-reduce", cause, expected=asked)
    check = _judged("all-reduce", size["bus_gb_per_s"], bound, f"{shown_bytes(size['bytes'])}, ring", run)
    return with_spread(check, size.get("spread"))


def with_spread(check: Check, spread: Spread | None) -> Check:
    """A figure of bandwidth with the spread of its repetitions, and what that points at; a wide one is a warning."""
    told: Check = {**check, "spread": spread}
    if check["verdict"] in ("fail", "warn"):
        told["cause"] = "; ".join(filter(None, [pointing(spread, steady=_SETTING, wide=_CONGESTION), check["cause"]]))
    elif is_wide(spread):
        told.update({"verdict": "warn", "cause": pointing(spread, steady="", wide=_CONGESTION)})
    return told


def judged_size(sizes: Sequence[Size], bound: Threshold | None) -> Size | None:
    """The message size at which bandwidth is judged: the threshold's, or the largest if the threshold names none."""
    if bound is not None and bound.get("message_bytes"):
        return next((size for size in sizes if size["bytes"] == bound["message_bytes"]), None)
    return max(sizes, key=lambda size: int(size["bytes"]), default=None)


def _judged(name: str, value: float, bound: Threshold | None, what: str, run: Run) -> Check:
    tries = run.get("tries") if name == "all-reduce" else None
    return judge_figure(name, value, bound, what, _slow_cause(run), tries)


def judge_figure(
    name: str, value: float, bound: Threshold | None, what: str, cause: str, tries: Sequence[Try] | None = None
) -> Check:
    """One figure against its bound; without one it is measured and not judged. cause: of a value that falls short."""
    verdict = verdict_on(value, bound)
    return judged(
        name,
        verdict,
        bound,
        float(f"{value:.4g}"),
        asked=limit_of(bound, what, level="warn" if verdict == "warn" else "fail") if bound else None,
        unit=_UNITS[name],
        tries=tries,
        cause=cause if verdict in ("fail", "warn") else None,
    )


def _slow_cause(run: Run) -> str:
    if run["transport"] in (SOCKETS, INFINIBAND_STAGED):
        return f"it went over {run['transport']}: see collective-transport"
    return (
        "if RDMA between the nodes is as fast as promised, NCCL does not use it well: no topology file, GPUs and "
        "HCAs paired across NUMA nodes, or PCI relaxed ordering off; if it is not, the slow HCA is the cause"
    )
