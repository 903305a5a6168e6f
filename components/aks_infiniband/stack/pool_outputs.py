"""A stack's statements on a pool: its outputs, the needs of pods, and a sample Job."""

from typing import Any

from aks_infiniband.facts.pool import Pool
from aks_infiniband.stack.stack import Stack
from aks_infiniband.validation import Validation
from aks_infiniband.validation.reports import summary_of
from aks_infiniband.workload import pods
from aks_infiniband.workload.sample_job import sample_job


def pool_outputs(pool: Pool, validation: Validation) -> dict[str, Any]:
    """vmSize, nodeCount, mode, rdmaResource and validation. A preview prints all of them if one changes."""
    return {
        "vmSize": pool.size.name,
        "nodeCount": pool.node_count,
        "mode": pool.mode,
        "rdmaResource": pool.rdma_resource,
        "validation": validation.report.apply(summary_of),
    }


def pod_templates(stack: Stack, pool: Pool) -> dict[str, Any]:
    """The fields that pods of the pool need: nodeCount and podTemplate; with node preparation also
    restrictedPodTemplate.
    """
    topology, pull_secret = stack.topologies.get(pool.name), stack.workload_registry.pull_secret
    levels = {"podTemplate": False}
    if stack.memlock and not pool.access.privileged:
        levels["restrictedPodTemplate"] = True
    templates = {
        key: pods.pod_template_fragment(pool, topology=topology, pull_secret=pull_secret, restricted=restricted)
        for key, restricted in levels.items()
    }
    return {"nodeCount": pool.node_count, **templates}


def sample_of(stack: Stack, pool: Pool) -> dict[str, Any]:
    """The sample Job of a pool, a List that kubectl applies as it is."""
    return sample_job(pool, registry=stack.workload_registry, topology=stack.topologies.get(pool.name))
