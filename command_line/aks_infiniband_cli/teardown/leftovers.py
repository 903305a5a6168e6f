"""The place of a stack, and the leftovers there."""

from pathlib import Path

from aks_infiniband.access.kubeconfig_file import KubeconfigFile
from aks_infiniband.azure.arguments import ClusterNetwork
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.settings.mistakes import SettingsError
from aks_infiniband.stack.stack import Stack
from azure.core.exceptions import AzureError

from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.errors import remedy_of, words_of
from aks_infiniband_cli.azure.left import Azure
from aks_infiniband_cli.azure.login import chosen_subscription, endpoint_of, login
from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.stack_file import configuration_of, stack_of
from aks_infiniband_cli.teardown.cluster import GPU_OPERATOR, NETWORK_OPERATOR, left_in
from aks_infiniband_cli.teardown.left import Leftovers, cluster_in, groups_of, in_azure, orphaned


def find_leftovers(file: Path, subscription_id: str | None, endpoint: str | None) -> Leftovers:
    """The leftovers of a stack. Raises CommandError if they cannot be read."""
    configuration = configuration_of(file)
    try:
        stack = stack_of(file, configuration)
    except SettingsError as error:
        raise CommandError(str(error)) from error
    if stack.existing is not None:
        return _in_cluster(stack, stack.existing)
    assert isinstance(stack.cluster, AzureClusterArgs)
    if not (file.parent / "Pulumi.yaml").is_file():
        raise CommandError(f"{file.parent / 'Pulumi.yaml'} is not there: the cluster is named after its project")
    chosen = chosen_subscription(subscription_id, configuration)
    try:
        return _in_azure(stack.cluster, Azure(Clients(login(), endpoint or endpoint_of(configuration), chosen)), chosen)
    except AzureError as error:
        raise CommandError(f"subscription {chosen} cannot be read: {words_of(error)}: {remedy_of(error)}") from error


def _in_cluster(stack: Stack, existing: KubeconfigFile) -> Leftovers:
    try:
        kept = {key for pool in stack.pools for key in pool.node_selector}
        theirs = [GPU_OPERATOR] if stack.settings.gpu_operator.existing else []
        theirs += [NETWORK_OPERATOR] if stack.operators.network is None else []
        lives, left = left_in(existing.kubeconfig, kept, theirs=theirs)
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error
    return Leftovers(where=f"the cluster {existing.server}", lives=lives, left=left)


def _in_azure(args: AzureClusterArgs, azure: Azure, subscription_id: str) -> Leftovers:
    cluster = args.cluster
    cluster_id = (
        f"/subscriptions/{subscription_id}/resourceGroups/{cluster.resource_group_name}/providers/"
        f"Microsoft.ContainerService/managedClusters/{cluster.cluster_name}"
    )
    ours = groups_of(
        azure.groups(),
        cluster_id=cluster_id,
        location=cluster.location,
        node_group=cluster.settings.node_resource_group,
    )
    filled = [azure.filled(group) for group in ours]
    assignments = [each for subnet in _subnets(cluster.settings.network) for each in azure.assignments(subnet)]
    roles = orphaned(assignments, azure.principals()) if assignments else ()
    return Leftovers(
        where=f"subscription {subscription_id}",
        lives=cluster_in(filled, cluster_id),
        left=[*in_azure(filled, subscription_id), *roles],
    )


def _subnets(network: ClusterNetwork) -> list[str]:
    """The subnets that existed before."""
    return [subnet for subnet in (network.node_subnet_id, network.pod_subnet_id) if subnet]
