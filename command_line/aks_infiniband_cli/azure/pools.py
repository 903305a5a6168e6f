"""An AKS cluster of others and its node pools, as Azure shows them; only reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aks_infiniband.azure.read_back import flat
from azure.mgmt.containerservice import ContainerServiceClient

from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.errors import in_words
from aks_infiniband_cli.azure.login import chosen_subscription, endpoint_of, login


@dataclass(frozen=True, kw_only=True, slots=True)
class AksFound:
    """The cluster."""

    subscription: str
    resource_group: str
    name: str
    node_group: str
    """In which AKS keeps the machines."""
    pools: Mapping[str, Mapping[str, Any]]
    """The properties of each node pool, by name, as `read_back.flat` gives them."""


def read_aks(subscription: str | None, endpoint: str | None, group: str, name: str) -> AksFound:
    """The cluster and its pools. Raises CommandError with Azure's words."""
    chosen = chosen_subscription(subscription, {})
    client = Clients(login(), endpoint or endpoint_of({}), chosen).aks
    with in_words(f"cluster {name} of resource group {group} cannot be read", advise=True):
        cluster = client.managed_clusters.get(group, name)
        names = [str(pool.name) for pool in cluster.agent_pool_profiles or ()]
        pools = {pool: _answer(client, group, name, pool) for pool in names}
    return AksFound(
        subscription=chosen, resource_group=group, name=name, node_group=str(cluster.node_resource_group), pools=pools
    )


def _answer(client: ContainerServiceClient, group: str, name: str, pool: str) -> dict[str, Any]:
    """Azure's own words, not the client's: it knows no property that is newer than it is."""
    answer = client.agent_pools.get(
        group, name, pool, cls=lambda response, _found, _headers: response.http_response.json()
    )
    return flat(answer)
