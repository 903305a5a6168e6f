"""The parts of a stack that an earlier validation of a pool depends on: a change of one makes it worthless."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from aks_infiniband.operators.amd_gpu_operator import is_amd_pool
from aks_infiniband.operators.gpu_operator import is_gpu_pool
from aks_infiniband.operators.ipoib import Network
from aks_infiniband.operators.nic_policy import NicPolicySpecs, pool_sections
from aks_infiniband.stack.operators import Operator, Operators
from aks_infiniband.stack.settings.reading import PoolReading

_SAME_MACHINES: Final = {"labels", "taints", "count", "autoscale", "nccl_topology", "kubernetes_version"}
"""Settings of a pool that change without replacing its machines, and the one that belongs with them."""
_LEFT_OUT: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("mode", "nic_driver", "gpu_driver", "gpu_device_plugin", "gpu_direct")),
    **{"ipoib_devices": [], "node_selector": {}},
}
"""The record of a measurement for what a pool does not say. Another record would measure every pool again."""


def revalidate_when(
    read: PoolReading, *, operators: Operators, policies: NicPolicySpecs, networks: Sequence[Network]
) -> dict[str, Any]:
    """The facts on which a pool's measurement depends, as JSON.

    The record holds nothing of other pools: a pool that is added must not claim the others' machines, and all that runs
    on them, for a validation.
    """
    settings, network, pool = read.stack.settings, operators.network, read.facts
    facts: dict[str, Any] = {
        "nicPolicy": pool_sections(pool, operators.options),
        # A driver that moves from one policy to another is loaded again.
        "driverOfItsOwn": "ofedDriver" in policies.nodes.get(pool.name, {}),
        "networks": {each.name: str(each.subnet) for each in networks if pool in each.pools},
        "networkOperator": (
            "of somebody else" if network is None else {"chart": asdict(network.chart), "values": network.given}
        ),
        "nodePreparation": settings.network_operator.node_preparation,
        "machines": {
            **_LEFT_OUT,
            **read.given.model_dump(mode="json", exclude=_SAME_MACHINES),
            "kubernetesVersion": settings.cluster and read.kubernetes_version,
        },
    }
    if is_gpu_pool(pool) and settings.gpu_operator.existing:
        facts["gpuOperator"] = "of somebody else"
    elif is_gpu_pool(pool) and operators.gpu is not None:
        facts["gpuOperator"] = _driver(operators.gpu, driverVersion=settings.gpu_operator.driver_version)
    elif is_amd_pool(pool) and operators.amd is not None:
        amd = settings.amd_gpu_operator
        facts["gpuOperator"] = _driver(
            operators.amd,
            driverVersion=amd.driver_version,
            driverImage=amd.driver_image,
            deviceConfig=amd.device_config,
        )
    return facts


def _driver(operator: Operator, **driver: Any) -> dict[str, Any]:
    return {"chart": asdict(operator.chart), "values": operator.given, **driver}
