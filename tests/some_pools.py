"""Pools as tests need them."""

from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool

H100 = "Standard_ND96isr_H100_v5"
A100 = "Standard_ND96asr_v4"
HBV4 = "Standard_HB176rs_v4"
GB300 = "Standard_ND128isr_GB300_v6"
MI300X = "Standard_ND96isr_MI300X_v5"


def pool(size: str = H100, name: str = "ndh100", taints: tuple[str, ...] = (), **fields: Any) -> Pool:
    """A pool of two in an AKS cluster, with the defaults of its size if a test says nothing else."""
    accelerator = SIZES[size].accelerator
    given = {
        "node_count": 2,
        "taints": taints,
        "gpu_driver": "operator" if accelerator is not None and accelerator.software == "gpu-operator" else "none",
        **fields,
    }
    return Pool(name=name, size=SIZES[size], **given)
