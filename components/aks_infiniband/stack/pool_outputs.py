"""What a stack says of a pool once it is up: its outputs, and a sample Job."""

from functools import partial
from typing import Any

import pulumi

from aks_infiniband.facts.pool import Pool
from aks_infiniband.stack.stack import Stack
from aks_infiniband.validation import Validation
from aks_infiniband.validation.reports import summary_of
from aks_infiniband.workload import pods
from aks_infiniband.workload.sample_job import sample_job
from aks_infiniband.workload.settings import WorkloadSettings


def pool_outputs(stack: Stack, pool: Pool, validation: Validation) -> dict[str, Any]:
    """vmSize, nodeCount, mode, rdmaResource, podTemplate and validation; with node preparation also
    restrictedPodTemplate.
    """
    template = partial(
        pods.pod_template_fragment,
        pool,
        topology=stack.topologies.get(pool.name),
        pull_secret=stack.workload_registry.pull_secret,
    )
    restricted = stack.memlock and not pool.access.privileged
    return {
        "vmSize": pool.size.name,
        "nodeCount": pool.node_count,
        "mode": pool.mode,
        "rdmaResource": pool.rdma_resource,
        "podTemplate": template(),
        **({"restrictedPodTemplate": template(restricted=True)} if restricted else {}),
        "validation": validation.report.apply(summary_of),
    }


def sample_of(stack: Stack, pool: Pool, settings: WorkloadSettings) -> pulumi.Output[dict[str, Any]]:
    """The sample Job; it is known once the ConfigMaps exist to which it refers."""
    job = sample_job(pool, registry=stack.workload_registry, topology=stack.topologies.get(pool.name))
    return settings.config_maps[pool.name].apply(lambda _: job)
