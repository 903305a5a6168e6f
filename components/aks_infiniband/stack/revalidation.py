"""What, changed, makes an earlier validation of a pool say nothing any more.

Nothing of another pool is in it: a pool that comes beside others must not claim their machines, with all that runs on
them, for a validation.
"""

from dataclasses import asdict
from typing import Any, Final

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.gpu_operator import is_gpu_pool
from aks_infiniband.operators.nic_policy_spec import nic_policy_specs, pool_sections
from aks_infiniband.stack.operators import Operators
from aks_infiniband.stack.settings import Readiness, Settings, ValidationSettings
from aks_infiniband.validation import ValidationOptions, Waits

_SAME_MACHINES: Final = {"labels", "taints", "count", "autoscale", "nccl_topology"}
"""What of a pool's settings changes and leaves it the machines that it has."""


def revalidate_when(operators: Operators, pool: Pool) -> dict[str, Any]:
    """JSON-able facts of one pool, for ValidationArgs.revalidate_when."""
    settings = operators.settings
    of_its_own = nic_policy_specs(operators.pools, operators.policy_options).nodes.get(pool.name, {})
    facts: dict[str, Any] = {
        "nicPolicy": pool_sections(pool, operators.policy_options),
        # A driver that moves from one policy to another is loaded anew.
        "driverOfItsOwn": "ofedDriver" in of_its_own,
        "networks": {one.name: str(one.addresses.subnet) for one in operators.networks if pool in one.pools},
        "networkOperator": {"chart": asdict(operators.network_chart), "values": operators.network_values},
        "nodePreparation": settings.network_operator.node_preparation,
        "machines": _machines(settings, pool),
    }
    if is_gpu_pool(pool):
        facts["gpuOperator"] = {
            "chart": asdict(operators.gpu_chart),
            "values": operators.gpu_values,
            "driverVersion": settings.gpu_operator.driver_version,
        }
    return facts


def validation_options(settings: ValidationSettings) -> ValidationOptions:
    """The options of a validation, from the stack file's section `validation`."""
    given = settings.thresholds.items()
    return ValidationOptions(
        mode=settings.mode,
        image=settings.image,
        timeout_seconds=settings.timeout_seconds,
        tries=settings.tries,
        sweep=settings.sweep,
        thresholds={figure: GivenThreshold(warn=bounds.warn, fail=bounds.fail) for figure, bounds in given},
    )


def waits(settings: Readiness) -> Waits:
    """How a validation waits for the nodes, from the stack file's section `readiness`."""
    return Waits(
        poll_seconds=settings.poll_seconds,
        stable_seconds=settings.stable_seconds,
        timeout_seconds=settings.timeout_seconds,
    )


def _machines(settings: Settings, pool: Pool) -> dict[str, Any]:
    """What, changed, gives the pool other machines."""
    given = next(one for one in settings.pools if one.name == pool.name)
    return {
        **given.model_dump(mode="json", exclude=_SAME_MACHINES),
        "kubernetesVersion": settings.cluster.kubernetes_version if settings.cluster else None,
    }
