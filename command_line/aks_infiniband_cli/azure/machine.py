"""The requests to Azure for a machine and its pool, through its maintained clients.

Restart and redeploy are Microsoft.Compute's, on the machine in the scale set: AKS's API has none, and its node
auto-repair takes the same steps. Machines are deleted by AKS's own API, because AKS counts them: with the scale set's
own the pool would have a wrong count. A pool's count falls with a deleted machine,
and is set again (docs/records/facts.yaml).
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.diagnosis.azure import is_transient
from azure.core import MatchConditions
from azure.core.exceptions import AzureError, HttpResponseError, ServiceResponseError
from azure.core.polling import LROPoller
from azure.mgmt.containerservice.models import AgentPoolDeleteMachinesParameter
from azure.mgmt.resource.resources import ResourceManagementClient

from aks_infiniband_cli.azure.answers import Progress
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.errors import remedy_of, words_of
from aks_infiniband_cli.azure.login import endpoint_of, login
from aks_infiniband_cli.azure.operations import progress_of
from aks_infiniband_cli.console import CommandError

_MACHINE: Final = re.compile(
    r"/subscriptions/(?P<subscription>[^/]+)/resourceGroups/(?P<group>[^/]+)/providers/Microsoft\.Compute/"
    r"(?:virtualMachineScaleSets/(?P<scale_set>[^/]+)/)?virtualMachines/(?P<name>[^/]+)",
    re.IGNORECASE,
)
_CLUSTER: Final = re.compile(r"/resourceGroups/([^/]+)/providers/[^/]+/managedClusters/([^/]+)$", re.IGNORECASE)
_LATER_SECONDS: Final = 10
_POLL_SECONDS: Final = 5
"""The pause if Azure does not name one."""
_GAVE_UP: Final = ("Failed", "Canceled")


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentPool:
    """A pool as Azure has it. count: of machines, also if Azure could not make all. gave_up: its last change failed.
    machines: AKS's names by the resource ID, in lower case.
    """

    count: int
    autoscaled: bool
    gave_up: bool
    machines: dict[str, str]


class Machine:
    """One machine and its pool. resource: the machine's ID. pool: of its agent pool.

    Raises CommandError for a resource that is not a machine of Azure, or whose cluster cannot be read.
    """

    def __init__(self, resource: str, pool: str, endpoint: str | None) -> None:
        parts = _MACHINE.fullmatch(resource)
        if parts is None:
            raise CommandError(f"{resource or 'a node without a providerID'} is not an Azure virtual machine")
        self._machine, self._resource = parts.groupdict(), resource
        place = endpoint or endpoint_of({})
        clients = Clients(login(), place, parts["subscription"], polling_interval=_POLL_SECONDS)
        self._compute, self._aks = clients.compute, clients.aks
        self._pool = {**self._cluster(clients.resources), "agent_pool_name": pool}
        self._poller: LROPoller[Any] | None = None
        self._refused, self._passes = "", False
        self.accepted = False
        """True if Azure has accepted the last request, or may have."""
        self._not_before = 0.0

    def _cluster(self, resources: ResourceManagementClient) -> dict[str, str]:
        """The cluster that keeps its machines in this group."""
        group = str(self._machine["group"])
        try:
            keeper = str(resources.resource_groups.get(group).managed_by or "")
        except AzureError as error:
            subscription = self._machine["subscription"]
            why = f"subscription {subscription} cannot be read: {words_of(error)}"
            raise CommandError(f"{why}: {remedy_of(error)}") from error
        parts = _CLUSTER.search(keeper)
        if parts is None:
            raise CommandError(
                f"resource group {group} does not belong to an AKS cluster: its manager is {keeper or 'not set'}"
            )
        return {"resource_group_name": parts[1], "resource_name": parts[2]}

    def agent_pool(self) -> AgentPool:
        """The pool as it is now. Raises AzureError."""
        pool = self._aks.agent_pools.get(**self._pool)
        machines = list(self._aks.machines.list(**self._pool))
        ids = {str(each.properties and each.properties.resource_id).lower(): str(each.name) for each in machines}
        return AgentPool(
            count=pool.count or 0,
            autoscaled=bool(pool.enable_auto_scaling),
            gave_up=pool.provisioning_state in _GAVE_UP,
            machines=ids,
        )

    def in_pool(self, pool: AgentPool) -> bool:
        """True if the pool still has the machine."""
        return self._resource.lower() in pool.machines

    def restart(self) -> None:
        """Request a restart of the machine."""
        self._begin("restart")

    def redeploy(self) -> None:
        """Request another host for the machine."""
        self._begin("redeploy")

    def _begin(self, action: str) -> None:
        group, name = self._machine["group"], self._machine["name"]
        if scale_set := self._machine["scale_set"]:
            operations: Any = self._compute.virtual_machine_scale_set_vms
            given = {"resource_group_name": group, "vm_scale_set_name": scale_set, "instance_id": name}
        else:  # a pool of virtual machines
            operations = self._compute.virtual_machines
            given = {"resource_group_name": group, "vm_name": name}
        self._ask(lambda: getattr(operations, f"begin_{action}")(**given))

    def delete(self) -> None:
        """Have AKS delete the machine, and no other; nothing if it has just gone."""

        def ask() -> LROPoller[Any] | None:
            name = self.agent_pool().machines.get(self._resource.lower())
            if name is None:
                return None
            machines = AgentPoolDeleteMachinesParameter(machine_names=[name])
            return self._aks.agent_pools.begin_delete_machines(**self._pool, machines=machines)

        self._ask(ask)

    def refill(self, count: int) -> None:
        """Request so many machines; another program's change of the pool meanwhile is not overruled."""

        def ask() -> LROPoller[Any]:
            pool = self._aks.agent_pools.get(**self._pool)
            pool.count = count
            matching = MatchConditions.IfNotModified if pool.e_tag else None
            given: dict[str, Any] = {**self._pool, "etag": pool.e_tag, "match_condition": matching}
            return self._aks.agent_pools.begin_create_or_update(parameters=pool, **given)

        self._ask(ask)

    def _ask(self, ask: Callable[[], LROPoller[Any] | None]) -> None:
        """A request that Azure refuses at once is reported by `progress`, as one that fails later."""
        if time.monotonic() < self._not_before:
            return
        self._poller, self._refused, self._passes, self.accepted = None, "", False, False
        try:
            self._poller = ask()
            self.accepted = self._poller is not None
        except ServiceResponseError as error:  # it was sent, and no answer that can be read has come
            self._refused, self.accepted = words_of(error), True
        except AzureError as error:
            self._refused = words_of(error)
            answered = isinstance(error, HttpResponseError) and error.status_code not in _LATER
            self._passes = not answered or is_transient(self._refused)
            self._not_before = time.monotonic() + _LATER_SECONDS

    def progress(self) -> tuple[Progress, str]:
        """The progress of the last request, and Azure's words if it was refused or failed, or if its status cannot be
        read.

        The progress is `none` if nothing was accepted: then the request may be sent again.
        """
        if self._poller is None:
            if self.accepted:
                return "unread", self._refused
            return "refused" if self._refused and not self._passes else "none", self._refused
        return progress_of(self._poller)


_LATER: Final = (412, 429)
"""Another program has just changed the pool, or Azure gets too many requests. For conflicts (409) only the words
decide.
"""
