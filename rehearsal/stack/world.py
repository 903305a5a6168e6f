"""The world outside a stack, as its file and the faults describe it: sizes, machines, what others have installed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rehearsal.faults import machine_faults
from rehearsal.faults.file import read_file
from rehearsal.run.folder import RunFolder
from rehearsal.run.sizes import describe_sizes
from rehearsal.stack import existing_nodes, others_definitions, others_gpu_operator, pending, stack_file


def prepare(run: RunFolder, config: Mapping[str, Any], *, faults: Path | None, charts: Path) -> None:
    """Set it up in every cluster of a run. faults: their file; None leaves them as they are. charts: the stand-ins'."""
    for cluster in run.clusters():
        describe_sizes(cluster.root, stack_file.section(config, "sizes") or {})
        wanted = machine_faults.read(cluster.root) if faults is None else read_file(faults)
        if wanted != machine_faults.read(cluster.root):  # those that hold already keep the time since when
            machine_faults.write(cluster.root, wanted)
    existing = f"{stack_file.NAMESPACE}:existingCluster" in config
    if existing:
        if not pending.has_cluster(run.azure / "state.json"):  # a managed cluster has its nodes from Azure
            existing_nodes.register(run.root, run.kubeconfig, config)
        others_gpu_operator.register(run.kubeconfig, config, charts)
    if existing or pending.has_cluster(run.azure / "state.json"):
        for cluster in run.clusters():
            others_definitions.register(cluster.kubeconfig, config)
