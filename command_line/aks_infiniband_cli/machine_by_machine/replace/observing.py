"""The observation of the cluster and of Azure: what `decision` judges by."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime

from aks_infiniband.diagnosis.repairs import SOURCE as AUTO_REPAIR
from aks_infiniband.validation.reports import EVENTS_OF_NODES
from azure.core.exceptions import AzureError, ResourceNotFoundError
from lightkube import Client
from lightkube.resources.core_v1 import Event

from aks_infiniband_cli.azure.errors import words_of
from aks_infiniband_cli.azure.machine import AgentPool, Machine
from aks_infiniband_cli.cluster import operators_in
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.replace.case import Case
from aks_infiniband_cli.machine_by_machine.replace.decision import Seen
from aks_infiniband_cli.machine_by_machine.replace.drain import described, leaving, uncontrolled
from aks_infiniband_cli.machine_by_machine.replace.sight import Sight, agent_pool_of, boot_of, resource_of
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.validating import read_cluster

_ASKS_AZURE = ("quarantine", "delete", "refill")
"""Stages in which the pool's count and machines matter."""


def sight_of(client: Client, namespace: str, pool: str) -> Sight:
    """One look at the cluster. Raises CommandError for a pool without a validation."""
    validations, nodes, pods = read_cluster(client, namespace)
    if pool not in validations:
        raise CommandError(
            f"pool {pool} does not have a validation in namespace {namespace}, so its machines cannot be measured"
        )
    events = client.list(Event, namespace=EVENTS_OF_NODES, fields={"source": AUTO_REPAIR})
    return Sight(
        validation=validations[pool],
        nodes=nodes,
        pods=pods,
        events=[event.to_dict() for event in events],
        operators=operators_in(client),
    )


def state_of(
    case: Case, sight: Sight, machine: Machine, *, others: Sequence[Case], limit: float, settled: float = 0
) -> Seen:
    """The visible state of a case. others: that are not over. limit: minutes that a stage may take. settled: as `Seen`
    has it.
    """
    node = sight.node(case.subject)
    healthy = sight.healthy([case.subject, *(other.subject for other in others)])
    leave = leaving(sight.pods, case.subject)
    pool = _pool(case, machine)
    operation, failure = machine.progress()
    return Seen(
        there=node is not None,
        boot=boot_of(node) if node else "",
        lacks=sight.lacks(node) if node else (),
        serves=node is not None and sight.serves(node),
        settled=settled,
        azure=sight.azure(node) if node else "",
        busy=sight.busy(case.subject),
        alone=described(uncontrolled(leave)),
        others=described(leave),
        healthy=healthy,
        idle=sight.idle(healthy),
        operation=operation,
        failure=failure,
        machine=machine.in_pool(pool) if pool else True,
        differs=differs(case, sight, pool.machines if pool else {}),
        given_up=next((other.node for other in others if other.pool == case.pool and other.is_given_up), ""),
        count=pool.count if pool else case.count,
        autoscaled=pool.autoscaled if pool else False,
        gave_up=pool.gave_up if pool else False,
        newcomers=[name for name in map(name_of, sight.of_pool()) if name not in {case.node, *case.known}],
        minutes=_minutes(max(case.since, case.asked)),
        limit=limit,
    )


def differs(case: Case, sight: Sight, machines: Mapping[str, str]) -> str:
    """The contradictions between a case and its subject, in words; empty if there are none.

    A case says which machine is restarted or deleted, and in which pool. The node says so, too, and for a machine whose
    node is gone AKS does, which calls a machine as its node (assumed: the two are the same in what was recorded).

    machines: AKS's names by the resource ID; empty if they were not read.
    """
    if case.stage in ("refill", "arrive"):  # the machine is gone, and another node may have its name
        pools = {pool for node in sight.of_pool() if (pool := agent_pool_of(node))}
        return _contradicted("another node of its pool", "pool", case.agent_pool, pools)
    node = next((each for each in sight.nodes if name_of(each) == case.node), None)
    if node is not None:
        machine = _contradicted(f"node {case.node}", "machine", case.resource.lower(), {resource_of(node).lower()})
        return machine or _contradicted(f"node {case.node}", "pool", case.agent_pool, {agent_pool_of(node)})
    name = machines.get(case.resource.lower())
    return _contradicted("Azure", "machine", case.node, {name} if name else set())


def _contradicted(who: str, what: str, kept: str, now: Collection[str]) -> str:
    if not now or kept in now:
        return ""
    said = " and ".join(sorted(filter(None, now))) or "none"
    return f"{who} says {what} {said}, and its case in the history {kept or 'none'}"


def _pool(case: Case, machine: Machine) -> AgentPool | None:
    if case.stage not in _ASKS_AZURE:
        return None
    try:
        return machine.agent_pool()
    except ResourceNotFoundError as error:
        raise CommandError(f"pool {case.pool} no longer exists in Azure: {words_of(error)}") from error
    except AzureError as error:
        raise CommandError(f"Azure did not answer about pool {case.pool}: {words_of(error)}") from error


def _minutes(since: str) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(since)).total_seconds() / 60 if since else 0.0
