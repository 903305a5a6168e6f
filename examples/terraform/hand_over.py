"""Makes the stack file of what Terraform hands over: `python hand_over.py outputs.json > Pulumi.lab.yaml`."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from aks_infiniband import SIZES

AGENT_POOL_LABEL = "kubernetes.azure.com/agentpool"
"""The label that AKS puts on the nodes of a pool."""


class HandOverError(ValueError):
    """Terraform hands over something that no stack file can say."""


def stack_file(outputs: Mapping[str, Any]) -> dict[str, Any]:
    """The stack file for the outputs, as `terraform output -json` prints them. Raises HandOverError."""
    missing = {"cluster", "infiniband_pools"} - outputs.keys()
    if missing:
        raise HandOverError(f"the outputs lack {', '.join(sorted(missing))}: hand-over.tf has them")
    pools = outputs["infiniband_pools"]["value"]
    if not pools:
        raise HandOverError("infiniband_pools is empty; it must name at least one pool")
    return {
        "config": {
            "aks-infiniband:existingCluster": {"kubeconfig": "~/.kube/config"},
            "aks-infiniband:pools": [_pool(key, pool) for key, pool in pools.items()],
            "aks-infiniband:networkOperator": {"nodePreparation": True, "valuesFile": None},
            "aks-infiniband:gpuOperator": {"valuesFile": None},
        }
    }


def _pool(key: str, pool: Mapping[str, Any]) -> dict[str, Any]:
    where, size = f"infiniband_pools.{key}", pool["vm_size"]
    if size not in SIZES:
        raise HandOverError(f"{where}.vm_size is {size}; it must be a size with InfiniBand: {', '.join(sorted(SIZES))}")
    driver = (pool.get("gpu_profile") or {}).get("driver") or "Install"
    if SIZES[size].accelerator and driver != "None":
        raise HandOverError(f'{where}.gpu_profile.driver is {driver}; it must be "None": the GPU Operator installs it')
    taints = {"taints": list(pool["node_taints"])} if pool.get("node_taints") else {}
    return {
        "name": pool["name"],
        "vmSize": size,
        "count": pool["count_of"],
        "gpuDirect": "auto",
        "nodeSelector": {AGENT_POOL_LABEL: pool["name"]},
        **taints,
    }


def main() -> None:
    """Print it."""
    try:
        file = stack_file(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    except HandOverError as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    print(yaml.safe_dump(file, sort_keys=False), end="")


if __name__ == "__main__":
    main()
