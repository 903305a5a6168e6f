"""The cluster autoscaler, which changes a pool's count without any program.

The reason of a change is not simulated: a test or a person sets a count with `rehearsal.azure.autoscaler`.
"""

from collections.abc import Mapping
from typing import Any, Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import NotSimulatedError, refused
from rehearsal.azure.naming import last_part
from rehearsal.azure.resources import pool_defaults

AUTOSCALE: Final = "rehearsal:azure:autoscale"
"""The function's token, for the rehearsal alone: Azure does not have such a request."""


def autoscale(cloud: Cloud, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Give a pool another count, within its bounds, and wait for the machines. arguments: pool and count.

    Raises NotSimulatedError for a pool that is not there, AzureError if its bounds forbid the count.
    """
    name, count = str(arguments["pool"]), int(arguments["count"])
    with cloud.clock.changed:
        record = next((pool for pool in cloud.store.all(pool_defaults.TYPE) if last_part(pool.id) == name), None)
        if record is None:
            raise NotSimulatedError(f"the agent pool {name} does not exist")
        pool = record.outputs
        if not pool.get("enableAutoScaling") or not int(pool["minCount"]) <= count <= int(pool["maxCount"]):
            bounds = f"{pool.get('minCount')} to {pool.get('maxCount')}" if pool.get("enableAutoScaling") else "none"
            raise refused("count-outside-the-autoscaler", name=name, bounds=bounds, count=count)
        pool["count"] = count
        cloud.begin(record, "update")
    return {"count": int(cloud.wait(record, "autoscaler").outputs["count"])}
