"""A pool of a cluster that is there, as Azure's client shows it, in plain data."""

from typing import Any

from aks_infiniband.facts.managed import DRANET, GPUS

from aks_infiniband_cli.azure.answers import Machines


def machines_of(pool: Any) -> Machines:
    """The properties of a pool. Properties that only newer versions of the API have may be missing."""
    gpus = getattr(pool.gpu_profile, "nvidia", None)
    modes = {
        GPUS: getattr(gpus, "management_mode", None),
        DRANET: getattr(getattr(pool.network_profile, "dranet", None), "mode", None),
    }
    return Machines(
        vm_size=str(pool.vm_size),
        count=int(pool.count or 0),
        image=str(pool.node_image_version or ""),
        managed=tuple(each for each, mode in modes.items() if getattr(mode, "value", mode) == "Managed"),
    )
