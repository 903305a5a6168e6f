"""Requests to Azure, its errors, and kubeconfigs."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import pulumi
from aks_infiniband.azure import read_back
from aks_infiniband.azure.machines import Autoscale, Machines, OrdinaryPool
from aks_infiniband.azure.node_pool import InfinibandNodePoolArgs, OrdinaryNodePoolArgs
from aks_infiniband.diagnosis.azure import explanation, is_transient, pause_before_retry

from tests.cases import Case
from tests.some_pools import pool
from tests.unit.components.cases.pools import arguments, differing

_GROUP: Final = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g/providers"
NODES: Final = f"{_GROUP}/Microsoft.Network/virtualNetworks/v/subnets/nodes"


def outcome_of_agent(case: Case) -> Any:
    """An agent pool as Azure is requested to make it: with a `pool` of InfiniBand, or an `ordinary` one. `machines` and
    `with` have the properties of its machines and further arguments.
    """
    usual: dict[str, Any] = {"ordinary": {}} if "ordinary" in case else {}
    return differing(lambda chosen: _agent({**usual, **chosen}), case, *(["ordinary"] if case == usual else []))


def _agent(case: Case) -> Any:
    place: dict[str, Any] = {"resource_group_name": "g", "cluster_name": "c", "subnet_id": NODES}
    place |= case.get("with", {})
    try:
        if "ordinary" in case:
            usual = {"name": "web", "count": 3, "vm_size": "Standard_D8s_v5"}
            ordinary = OrdinaryPool(**{**usual, **arguments(case["ordinary"])})
            return read_back.asked(OrdinaryNodePoolArgs(pool=ordinary, **place))
        described = pool(**arguments(case.get("pool", {})))
        machines = Machines(**_machines(case.get("machines", {})))
        return read_back.asked(InfinibandNodePoolArgs(pool=described, machines=machines, **place))
    except ValueError as error:
        return {"refused": str(error).partition(" [type=")[0]}


def _machines(properties: Case) -> dict[str, Any]:
    read = arguments(properties)
    return {**read, "autoscale": Autoscale(**read["autoscale"])} if "autoscale" in read else read


def outcome_of_errors(case: Case) -> dict[str, Any]:
    """The words on an error of Azure, and the first pause before another try, by operation."""
    message = case["message"]
    pauses = {kind: pause_before_retry([message], kind, share=1) for kind in ("create", "update", "delete")}
    inputs = {"agentPoolName": "hb", "vmSize": "Standard_HB176rs_v4"}
    named: Any = {"urn": "urn", "id": "id", "name": "rdma-hb", "type": "t"}
    args = pulumi.ErrorHookArgs(**named, errors=[message], failed_operation="create", new_inputs=inputs)
    known = {kind: pause for kind, pause in pauses.items() if pause is not None}
    return {**({"pauses": known} if known else {}), "passes": is_transient(message), "said": explanation(args)}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"agent": outcome_of_agent, "errors": outcome_of_errors}
"""By the first word of a file's name, what gives the outcome of a case."""
