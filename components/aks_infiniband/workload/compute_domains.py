"""NVLink between the GPUs of pods on several machines: a ComputeDomain in their namespace, and a claim each.

The ComputeDomain's controller makes the ResourceClaimTemplate of the same name. A claim takes the node's one channel,
so a node runs one pod with such a claim at a time.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts.compute_domains import API_VERSION, CLIQUE_LABEL
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import labels

CLAIM: Final = "nvlink"
"""The name of the claim in a pod's spec and its containers."""


def compute_domain_name(pool_name: str) -> str:
    """Name of a pool's ComputeDomain, and of its ResourceClaimTemplate, in every namespace of its workloads."""
    return f"nvlink-{pool_name}"


def compute_domain_spec(pool: Pool) -> Any:
    """ComputeDomainSpec of resource.nvidia.com/v1beta1, for as many nodes as come.

    Values that the server would complete are written out, because nothing of it can be changed later.
    """
    template = {"name": compute_domain_name(pool.name)}
    return {"numNodes": 0, "channel": {"allocationMode": "Single", "resourceClaimTemplate": template}}


def compute_domain_claims(pool: Pool) -> list[dict[str, str]]:
    """The entry in `resourceClaims` of a pod's spec; empty if NVLink ends at the machine."""
    if not pool.has_compute_domain:
        return []
    return [{"name": CLAIM, "resourceClaimTemplateName": compute_domain_name(pool.name)}]


def near_by_nvlink(selected: Mapping[str, str]) -> dict[str, Any]:
    """The podAffinity of core/v1 with which pods that carry these labels fill one NVLink domain before another."""
    term = {"topologyKey": CLIQUE_LABEL, "labelSelector": {"matchLabels": dict(selected)}}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": term}]}


def compute_domain(pool: Pool, namespace: str) -> dict[str, Any]:
    """The ComputeDomain of a pool that has one, in one namespace."""
    return {
        "apiVersion": API_VERSION,
        "kind": "ComputeDomain",
        "metadata": {
            "name": compute_domain_name(pool.name),
            "namespace": namespace,
            "labels": labels("nvlink", "workload"),
        },
        "spec": compute_domain_spec(pool),
    }


def compute_domains(
    name: str, pools: Sequence[Pool], namespace: str, opts: pulumi.ResourceOptions
) -> dict[str, k8s.apiextensions.CustomResource]:
    """The ComputeDomains of the pools that have one, by pool.

    name: the beginning of their names in the program. opts: after the DraDriver's release, which defines them.
    """
    return {
        pool.name: k8s.apiextensions.CustomResource(
            f"{name}-{compute_domain_name(pool.name)}",
            api_version=document["apiVersion"],
            kind=document["kind"],
            metadata=k8s.meta.v1.ObjectMetaArgs(**document["metadata"]),
            spec=document["spec"],
            opts=opts,
        )
        for pool in pools
        if pool.has_compute_domain
        for document in [compute_domain(pool, namespace)]
    }
