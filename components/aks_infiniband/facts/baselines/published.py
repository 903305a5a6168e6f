"""The figures that somebody has published, one row for each figure and circumstance."""

from typing import Final

from aks_infiniband.facts.baselines import Baseline

_GUIDE: Final = "Azure/aks-rdma-infiniband 700dabb (2026-07-16), tests/expected-output.md"
_SLURM: Final = "Azure/ai-infrastructure-on-azure a01b073 (2026-04-22), skills/slurm/sku_performance_baseline/SKILL.md"
_HEALTH_CHECKS: Final = "Azure/azurehpc-health-checks 0e0a1ac (2026-05-01), conf/"
_CODELAB: Final = "Azure/AKS pull request 5975, distributed-training-rdma (2026-09-20)"
_AICR: Final = "NVIDIA/aicr, recipes/overlays/h100-aks-training.yaml and docs/integrator/aks-gpu-setup.md"
_A100: Final = ("Standard_ND96asr_v4", "Standard_ND96amsr_A100_v4")
_HOPPER: Final = ("Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5", "Standard_ND96isrf_H200_v5")
_NDV2: Final = ("Standard_ND40rs_v2",)
_GB300: Final = ("Standard_ND128isr_GB300_v6",)
_MIB: Final = 2**20
_GIB: Final = 2**30

BASELINES: Final[tuple[Baseline, ...]] = (
    *(
        Baseline(
            figure=figure,
            vm_sizes=_A100,
            nodes=2,
            message_bytes=8 * _MIB,
            tuning="1 queue pair, 5000 iterations",
            tool=tool,
            expected=expected,
            warn=190.0,
            fail=180.0,
            basis="measured",
            source=f"{_GUIDE}; fail: {_HEALTH_CHECKS}, check_ib_bw_gdr; 187.78 was accepted in {_CODELAB}",
        )
        for figure, tool, expected in (
            ("rdma-write-bandwidth", "ib_write_bw", 196.55),
            ("rdma-read-bandwidth", "ib_read_bw", 197.48),
        )
    ),
    *(
        Baseline(
            figure=figure,
            vm_sizes=sizes,
            message_bytes=8 * _MIB,
            tool=tool,
            warn=warn,
            fail=fail,
            basis="quoted",
            source=f"{_HEALTH_CHECKS}, {check}{also}",
        )
        for sizes, warn, fail, check, also in (
            (_HOPPER, 380.0, 360.0, "check_ib_bw_gdr of H200", f"; 378.46 to 379.96 were accepted in {_CODELAB}"),
            (_NDV2, 95.0, 78.0, "check_ib_bw_non_gdr", ""),
        )
        for figure, tool in (("rdma-write-bandwidth", "ib_write_bw"), ("rdma-read-bandwidth", "ib_read_bw"))
    ),
    Baseline(
        figure="rdma-read-latency",
        nodes=2,
        message_bytes=2,
        tuning="1000 iterations, average; 3.29 to 5.99 us from H200 to A100",
        tool="ib_read_lat",
        expected=5.50,
        warn=6.0,
        fail=10.0,
        basis="quoted",
        source=f"warn: {_GUIDE}; fail: {_CODELAB}",
    ),
    *(
        Baseline(
            figure=figure,
            vm_sizes=sizes,
            nodes=2,
            message_bytes=message_bytes,
            transport="ipoib" if figure.startswith("ipoib") else "tcp" if figure.startswith("pod") else "infiniband",
            tuning=f"taken on Standard_ND96asr_v4{elsewhere}",
            tool=tool,
            expected=expected,
            # The pod network is measured for comparison: falling short there says nothing of InfiniBand.
            fail=limit if sizes and not figure.startswith("pod") else None,
            warn=None if sizes and not figure.startswith("pod") else limit,
            basis="measured",
            source=_GUIDE,
        )
        for sizes, elsewhere in ((_A100, ""), ((), "; on another size it only warns"))
        for figure, tool, message_bytes, expected, limit in (
            ("rdma-ping-pong-latency", "ibv_rc_pingpong, 1000 iterations", 4096, 8.57, 9.5),
            ("rdma-ping-pong-throughput", "ibv_rc_pingpong, 1000 iterations", 4096, 7643.57, 7000.0),
            ("ipoib-latency", "sockperf 3.10 ping-pong", 16384, 44.475, 50.0),
            ("ipoib-message-rate", "sockperf 3.10 throughput", 1472, 593397.0, 500_000.0),
            ("ipoib-throughput", "sockperf 3.10 throughput", 1472, 6664.126, 6000.0),
            ("pod-network-latency", "sockperf 3.10 ping-pong", 16384, 83.147, 100.0),
            ("pod-network-message-rate", "sockperf 3.10 throughput", 1472, 127096.0, 110_000.0),
            ("pod-network-throughput", "sockperf 3.10 throughput", 1472, 1427.348, 1200.0),
        )
    ),
    Baseline(
        figure="all-reduce",
        vm_sizes=_A100,
        nodes=2,
        message_bytes=8 * _GIB,
        tuning="NCCL_NET_GDR_LEVEL=SYS, relaxed ordering, topology file ndv4",
        tool="nccl-tests all_reduce_perf",
        expected=187.22,
        fail=180.0,
        basis="measured",
        source=_GUIDE,
    ),
    *(
        Baseline(
            figure="all-reduce",
            vm_sizes=sizes,
            message_bytes=16 * _GIB,
            transport=transport,
            tuning=tuning,
            tool=tool,
            expected=expected,
            warn=warn,
            fail=fail,
            basis="quoted",
            source=source,
        )
        for sizes, transport, tuning, tool, (expected, warn, fail), source in (
            (
                _HOPPER,
                "infiniband",
                "topology file ndv5, no SHARP; with SHARP, 32 channels and 4 queue pairs 450 to 466 were measured",
                "nccl-tests all_reduce_perf",
                (None, 300.0, 150.0),
                f"warn: {_SLURM}; fail: 157.29 untuned, {_AICR}",
            ),
            (
                _GB300,
                "nvlink",
                "inside one rack, NVLink domain of 18 machines",
                None,
                (937.0, 800.0, 600.0),
                _SLURM,
            ),
            (_GB300, "infiniband", "InfiniBand only, across racks", None, (200.0, 180.0, 150.0), _SLURM),
        )
    ),
    Baseline(
        figure="all-reduce-small",
        vm_sizes=_A100,
        nodes=2,
        message_bytes=4 * _MIB,
        tuning="10 all-reduces of 1 Mi floats, 16 ranks",
        tool="PyTorch distributed",
        expected=0.005902,
        fail=0.006,
        basis="measured",
        source=_GUIDE,
    ),
)
"""What is published, one row for each figure and circumstance."""
