"""People's requests on machines that are there: restart or redeploy one, delete some of a pool.

AKS neither cordons nor drains what is deleted (MicrosoftDocs/azure-aks-docs, delete-node-pool.md, read 2026-11-28, of a
pool; that the same is so of named machines is assumed). The pool's count falls by one (docs/records/facts.yaml).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rehearsal.azure import asked_operations, request_faults
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import not_found, refused
from rehearsal.azure.machines import node_name, scale_set
from rehearsal.azure.resources.agent_pools import AGENT_POOL, refuse_conflict
from rehearsal.azure.resources.pool_machines import cluster_of, document, facts
from rehearsal.azure.store import Record
from rehearsal.azure.subscription_faults import FaultOperation

_MACHINE: Final = "azure-native:compute:VirtualMachine"
"""Its name in faults: no program of the engine's declares one."""
_OF_SCALE_SET: Final = (
    r"/subscriptions/[^/]+/resourceGroups/([^/]+)/providers/Microsoft\.Compute/virtualMachineScaleSets/([^/]+)"
    r"/virtualMachines/([^/]+)/(restart|redeploy)"
)
_ACTIONS: Final[Mapping[str, FaultOperation]] = {"restart": "restart", "redeploy": "redeploy"}


def ask(cloud: Cloud, path: str) -> str | None:
    """Accept a restart or a redeployment: the operation's path; None for any other path. Raises AzureError."""
    match = re.fullmatch(_OF_SCALE_SET, path, re.IGNORECASE)
    if match is None:
        return None
    group, name, instance, action = match.groups()
    with cloud.clock.changed:
        for pool in cloud.store.all(AGENT_POOL.pulumi_type):
            known = facts(cloud, pool)
            here = (known.node_group.casefold(), scale_set(known).casefold()) == (group.casefold(), name.casefold())
            if here and instance in [str(machine["instance"]) for machine in pool.details.get("machines", [])]:
                asked = _ACTIONS[action.lower()]
                machine = f"{pool.id}/machines/{node_name(known, int(instance))}"
                fault = request_faults.meet(cloud, _MACHINE, machine, asked)
                begun = asked_operations.begin(cloud, pool, asked, int(instance), fault.code if fault else None)
                place = f"/subscriptions/{known.subscription_id}/providers/Microsoft.Compute/locations/{known.location}"
                return f"{place}/operations/{begun}?api-version=2026-04-01"
    raise not_found("Microsoft.Compute/virtualMachineScaleSets/virtualMachines", f"{name}/{instance}", group)


def delete(cloud: Cloud, pool: Record, names: Sequence[str]) -> Record:
    """Accept that machines are deleted: the pool's count falls by as many. names: AKS's. Raises AzureError."""
    with cloud.clock.changed:
        known, machines = facts(cloud, pool), pool.details["machines"]
        by_name = {node_name(known, machine["instance"]): machine for machine in machines}
        if strange := [name for name in names if name not in by_name]:
            told = ", ".join(strange)
            raise refused("machines-of-another-pool", machines=told, pool=pool.outputs["name"])
        cluster = cluster_of(cloud, pool.id)
        assert cluster
        refuse_conflict(cluster, pool)
        fault = request_faults.meet(cloud, AGENT_POOL.pulumi_type, pool.id, "deleteMachines")
        going = [by_name[name] for name in names]
        # A pool that shrinks loses those at the end.
        for machine in going:
            machine["deleted"] = True
        pool.details["machines"] = [machine for machine in machines if machine not in going] + going
        for values in (pool.inputs, pool.outputs):
            values["count"] = len(machines) - len(going)
        cloud.begin(pool, "update", fault)
    return pool


def shown_machines(cloud: Cloud, pool: Record) -> dict[str, Any]:
    """The body of a GET of an agent pool's machines: AKS's name of each, and its resource in the scale set."""
    documents = [document(cloud, pool, machine) for machine in pool.details.get("machines", [])]
    return {
        "value": [
            {
                "id": f"{pool.id}/machines/{each['metadata']['name']}",
                "name": each["metadata"]["name"],
                "properties": {"resourceId": each["spec"]["providerID"].removeprefix("azure://")},
            }
            for each in documents
        ]
    }
