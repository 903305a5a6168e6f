"""The figures that somebody has published, one row for each figure and circumstance."""

from typing import Final

from aks_infiniband.facts.baselines.model import Baseline

_GUIDE: Final = "Azure/aks-rdma-infiniband 700dabb (2026-07-16), tests/expected-output.md"
_INFRASTRUCTURE: Final = "Azure/ai-infrastructure-on-azure a01b073 (2026-04-22)"
_AICR: Final = "NVIDIA/aicr, recipes/overlays/h100-aks-training.yaml and docs/integrator/aks-gpu-setup.md"
_A100: Final = ("Standard_ND96asr_v4", "Standard_ND96amsr_A100_v4")
_HOPPER: Final = ("Standard_ND96isr_H100_v5", "Standard_ND96isr_H200_v5")
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
            fail=190.0,
            basis="measured",
            source=_GUIDE,
        )
        for figure, tool, expected in (
            ("rdma-write-bandwidth", "ib_write_bw", 196.55),
            ("rdma-read-bandwidth", "ib_read_bw", 197.48),
        )
    ),
    *(
        Baseline(
            figure=figure,
            vm_sizes=_HOPPER,
            message_bytes=8 * _MIB,
            tool=tool,
            fail=380.0,
            basis="quoted",
            source=f"{_INFRASTRUCTURE}, infrastructure_validations/aks/NHC/helm/aznhc/values.yaml: ib_bw_gdr 380",
        )
        for figure, tool in (("rdma-write-bandwidth", "ib_write_bw"), ("rdma-read-bandwidth", "ib_read_bw"))
    ),
    Baseline(
        figure="rdma-read-latency",
        nodes=2,
        message_bytes=2,
        tuning="1000 iterations, average; taken on Standard_ND96asr_v4, the limit is for every size",
        tool="ib_read_lat",
        expected=5.50,
        fail=6.0,
        basis="measured",
        source=_GUIDE,
    ),
    Baseline(
        figure="rdma-ping-pong-latency",
        nodes=2,
        message_bytes=4096,
        tuning="1000 iterations; taken on Standard_ND96asr_v4, the limit is for every size",
        tool="ibv_rc_pingpong",
        expected=8.57,
        fail=9.5,
        basis="measured",
        source=_GUIDE,
    ),
    Baseline(
        figure="rdma-ping-pong-throughput",
        nodes=2,
        message_bytes=4096,
        tuning="1000 iterations; taken on Standard_ND96asr_v4, the limit is for every size",
        tool="ibv_rc_pingpong",
        expected=7643.57,
        fail=7000.0,
        basis="measured",
        source=_GUIDE,
    ),
    *(
        Baseline(
            figure=f"{network}-{what}",
            nodes=2,
            message_bytes=size,
            transport=transport,
            tuning="TCP; taken on Standard_ND96asr_v4, the limit is for every size",
            tool=f"sockperf 3.10 {mode}",
            expected=expected,
            # The pod network is measured for comparison: falling short there says nothing of InfiniBand.
            fail=limit if network == "ipoib" else None,
            warn=None if network == "ipoib" else limit,
            basis="measured",
            source=_GUIDE,
        )
        for network, transport, what, mode, size, expected, limit in (
            ("ipoib", "ipoib", "latency", "ping-pong", 16384, 44.475, 50.0),
            ("ipoib", "ipoib", "message-rate", "throughput", 1472, 593397.0, 500_000.0),
            ("ipoib", "ipoib", "throughput", "throughput", 1472, 6664.126, 6000.0),
            ("pod-network", "tcp", "latency", "ping-pong", 16384, 83.147, 100.0),
            ("pod-network", "tcp", "message-rate", "throughput", 1472, 127096.0, 110_000.0),
            ("pod-network", "tcp", "throughput", "throughput", 1472, 1427.348, 1200.0),
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
    Baseline(
        figure="all-reduce",
        vm_sizes=_HOPPER,
        message_bytes=16 * _GIB,
        tuning="topology file ndv5; expected with SHARP",
        tool="nccl-tests all_reduce_perf",
        expected=450.0,
        warn=400.0,
        fail=300.0,
        basis="quoted",
        source=f"{_INFRASTRUCTURE}, skills/slurm/sku_performance_baseline/SKILL.md",
    ),
    Baseline(
        figure="all-reduce",
        vm_sizes=("Standard_ND96isr_H100_v5",),
        nodes=2,
        message_bytes=16 * _GIB,
        tuning="untuned: no topology file, shared HCA pool",
        tool="nccl-tests all_reduce_perf",
        expected=157.29,
        fail=150.0,
        basis="measured",
        source=_AICR,
    ),
    Baseline(
        figure="all-reduce",
        vm_sizes=_GB300,
        message_bytes=16 * _GIB,
        transport="nvlink",
        tuning="inside one rack, NVLink domain of 18 machines",
        expected=937.0,
        warn=800.0,
        fail=600.0,
        basis="quoted",
        source=f"{_INFRASTRUCTURE}, skills/slurm/sku_performance_baseline/SKILL.md",
    ),
    Baseline(
        figure="all-reduce",
        vm_sizes=_GB300,
        message_bytes=16 * _GIB,
        tuning="InfiniBand only, across racks",
        expected=200.0,
        warn=180.0,
        fail=150.0,
        basis="quoted",
        source=f"{_INFRASTRUCTURE}, skills/slurm/sku_performance_baseline/SKILL.md",
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
