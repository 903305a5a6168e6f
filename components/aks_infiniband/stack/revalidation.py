"""The parts of a stack that an earlier validation of a pool depends on: a change of one makes it worthless."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.amd_gpu_operator import is_amd_pool
from aks_infiniband.operators.gpu_operator import is_gpu_pool
from aks_infiniband.operators.ipoib import Network
from aks_infiniband.operators.nic_policy import NicPolicySpecs
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.reading import PoolReading
from aks_infiniband.stack.stack import Operator

_SAME_MACHINES: Final = {"labels", "taints", "count", "autoscale", "nccl_topology", "kubernetes_version"}
"""Settings of a pool that change without replacing its machines, and the one that stands beside them."""
_LEFT_OUT: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("mode", "nic_driver", "gpu_driver", "gpu_device_plugin", "gpu_direct")),
    **{"ipoib_devices": [], "node_selector": {}},
}
"""How a measurement has on record what a pool does not say. Another record would measure every pool again."""


def revalidate_when(
    pool: PoolReading,
    resolved: Pool,
    *,
    settings: Settings,
    nic_policy: Mapping[str, Any],
    policies: NicPolicySpecs,
    networks: Sequence[Network],
    network: Operator | None,
    gpu: Operator | None,
    amd: Operator | None,
) -> dict[str, Any]:
    """The facts on which a pool's measurement depends, as JSON. nic_policy: the pool's sections of it.

    It holds nothing of other pools: a pool that is added must not claim the others' machines, and all that runs on
    them, for a validation.
    """
    facts: dict[str, Any] = {
        "nicPolicy": nic_policy,
        # A driver that moves from one policy to another is loaded anew.
        "driverOfItsOwn": "ofedDriver" in policies.nodes.get(pool.name, {}),
        "networks": {each.name: str(each.subnet) for each in networks if resolved in each.pools},
        "networkOperator": (
            "of somebody else" if network is None else {"chart": asdict(network.chart), "values": network.given}
        ),
        "nodePreparation": settings.network_operator.node_preparation,
        "machines": {
            **_LEFT_OUT,
            **pool.given.model_dump(mode="json", exclude=_SAME_MACHINES),
            "kubernetesVersion": settings.cluster and pool.kubernetes_version,
        },
    }
    if is_gpu_pool(resolved) and settings.gpu_operator.existing:
        facts["gpuOperator"] = "of somebody else"
    elif is_gpu_pool(resolved) and gpu is not None:
        facts["gpuOperator"] = {
            "chart": asdict(gpu.chart),
            "values": gpu.given,
            "driverVersion": settings.gpu_operator.driver_version,
        }
    elif is_amd_pool(resolved) and amd is not None:
        given = settings.amd_gpu_operator
        facts["gpuOperator"] = {
            "chart": asdict(amd.chart),
            "values": amd.given,
            "driverVersion": given.driver_version,
            "driverImage": given.driver_image,
            "deviceConfig": given.device_config,
        }
    return facts
