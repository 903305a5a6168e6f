"""The claim with which a pod of a pool in mode dra requests HCAs: a ResourceClaimTemplate in its namespace, and a claim
in its spec.

A claim is for HCAs alone, and GPUs stay with their device plugin. The constraint `matchAttribute:
resource.kubernetes.io/pcieRoot` would pair no GPU with an HCA on Azure, because Hyper-V gives each a separate PCI
domain (Azure's NCCL topology files; the slices in kubernetes-sigs/dranet v1.4.0, examples/azure_aks_examples): such a
claim is Pending for ever. A pod that takes a whole machine has all of both.
"""

from collections.abc import Sequence
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts.dranet import DEVICE_CLASS, IS_HCA
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import labels
from aks_infiniband.workload.compute_domains import compute_domain_claims

CLAIM: Final = "infiniband"
"""The name of the claim in a pod's spec and its containers."""


def template_name(pool_name: str) -> str:
    """Name of a pool's ResourceClaimTemplate, in every namespace of its workloads."""
    return f"infiniband-{pool_name}"


def claim_template_spec(pool: Pool) -> Any:
    """ResourceClaimTemplateSpec of resource.k8s.io/v1: all HCAs of one machine, for one pod alone.

    The list of requests has one owner, so what the server would complete stands in it: else a second manager conflicts.
    """
    count, device_class = pool.size.infiniband.hca_count, pool.access.device_class
    request: dict[str, Any] = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": count}
    if device_class != DEVICE_CLASS:  # a class of others may have every interface of a node
        request["selectors"] = [{"cel": {"expression": IS_HCA}}]
    return {"spec": {"devices": {"requests": [{"name": "hca", "exactly": request}]}}}


def pod_claims(pool: Pool) -> list[dict[str, str]]:
    """`resourceClaims` of a pod's spec: its HCAs in mode dra, and its place in the pool's ComputeDomain."""
    hcas = [{"name": CLAIM, "resourceClaimTemplateName": template_name(pool.name)}] if pool.access.claims else []
    return [*hcas, *compute_domain_claims(pool)]


def container_claims(pool: Pool) -> list[dict[str, str]]:
    """`resources.claims` of a container that uses InfiniBand and GPUs: all claims of the pod."""
    return [{"name": claim["name"]} for claim in pod_claims(pool)]


def claim_template(pool: Pool, namespace: str) -> dict[str, Any]:
    """The ResourceClaimTemplate of a pool in mode dra, in one namespace."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": template_name(pool.name),
            "namespace": namespace,
            "labels": labels("infiniband", "workload"),
        },
        "spec": claim_template_spec(pool),
    }


def claim_templates(
    name: str, pools: Sequence[Pool], namespace: str, opts: pulumi.ResourceOptions
) -> dict[str, k8s.resource.v1.ResourceClaimTemplate]:
    """The templates of the pools in mode dra, by pool.

    name: the beginning of their names in the program.
    """
    return {
        pool.name: k8s.resource.v1.ResourceClaimTemplate(
            f"{name}-{template_name(pool.name)}",
            metadata=document["metadata"],
            spec=document["spec"],
            opts=opts,
        )
        for pool in pools
        if pool.access.claims
        for document in [claim_template(pool, namespace)]
    }
