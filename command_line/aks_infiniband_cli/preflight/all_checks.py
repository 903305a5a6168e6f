"""Looks at a stack file and at Azure, and gives a line for each check."""

import functools
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from aks_infiniband.azure.feature import FEATURE_NAME
from aks_infiniband.azure.provider_registration import PROVIDER_NAMESPACE
from aks_infiniband.observability import definitions
from aks_infiniband.stack import beforehand
from aks_infiniband.stack.adopted_pools import AdoptedPoolsArgs
from aks_infiniband.stack.settings.mistakes import SettingsError
from aks_infiniband.stack.stack import Stack
from azure.core.exceptions import AzureError

from aks_infiniband_cli.azure.answers import Role
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.errors import remedy_of, words_of
from aks_infiniband_cli.azure.login import chosen_subscription, endpoint_of, login
from aks_infiniband_cli.azure.rehearsed import rehearsed
from aks_infiniband_cli.azure.subscription import Azure
from aks_infiniband_cli.preflight import adopted, checks, prices, roles, upkeep
from aks_infiniband_cli.preflight.chart_images import not_known
from aks_infiniband_cli.preflight.charts import charts
from aks_infiniband_cli.preflight.checks import Line
from aks_infiniband_cli.preflight.images import images, images_of
from aks_infiniband_cli.preflight.needs import MachinesNeeded, Needs, beyond, needed, needs_of
from aks_infiniband_cli.preflight.registry import Registries
from aks_infiniband_cli.preflight.systems import systems
from aks_infiniband_cli.stack_file import configuration_of, stack_of

_MAY_READ: Final = "the role Reader on the subscription lets you read this; a proxy or firewall may be in the way"
_Found = TypeVar("_Found")


def check_stack_file(file: Path, subscription_id: str | None, endpoint: str | None) -> list[Line]:
    """A line for each check of a stack file. Raises CommandError if the file does not exist, or if no subscription is
    named.

    endpoint: of Azure Resource Manager; None for that of the configured cloud.
    """
    configuration = configuration_of(file)
    try:
        stack = stack_of(file, configuration)
    except SettingsError as error:
        return [Line(check="settings", state="fail", found=str(error), remedy=f"mend {file}")]
    settings = Line(check="settings", state="pass", found=f"{file} has no mistakes")
    return [settings, *check_stack(stack, file.parent, configuration, subscription_id, endpoint)]


def check_stack(
    stack: Stack, folder: Path, configuration: Mapping[str, Any], subscription_id: str | None, endpoint: str | None
) -> list[Line]:
    """A line for each check of a stack, in addition to its settings. Raises CommandError if no subscription is named.

    folder: to which paths are relative. endpoint: of Azure Resource Manager; None for that of the configured cloud.
    """
    here = [*systems(stack), *_of_the_world(stack, folder)]
    needs, taken = needs_of(stack), stack.adopted
    if needs is None and taken is None:
        found = "the cluster is there already, and the stack makes nothing in Azure"
        return [*here, *_in_cluster(stack), Line(check="Azure", state="not checked", found=found)]
    chosen = chosen_subscription(subscription_id, configuration)
    azure = Azure(Clients(login(), endpoint or endpoint_of(configuration), chosen))
    if needs is not None:
        return [*here, *_kubelogin(needs), *_of_azure(needs, azure, chosen)]
    assert taken is not None
    return [*here, *_in_cluster(stack), *_of_adopted(taken, stack.settings.validation.mode, azure, chosen)]


def _of_the_world(stack: Stack, folder: Path) -> list[Line]:
    if rehearsed() is not None:
        found = "a rehearsal installs its own charts, and pulls no image"
        return [Line(check="charts and images", state="not checked", found=found)]
    with Registries() as registries:
        return [*charts(stack, folder, registries), *images(images_of(stack), registries.platforms), *not_known(stack)]


def _in_cluster(stack: Stack) -> Iterator[Line]:
    if stack.existing:
        yield from map(checks.beforehand, beforehand.looks(stack.existing.kubeconfig, stack))
    if stack.existing and stack.settings.observability:
        prometheus = stack.settings.observability.prometheus
        yield checks.definitions_there(prometheus, *definitions.absent(stack.existing.kubeconfig, prometheus))


def _kubelogin(needs: Needs) -> Iterator[Line]:
    if needs.login:
        there = shutil.which("kubelogin")
        remedy = None if there else "install it: https://azure.github.io/kubelogin, or `az aks install-cli`"
        found = there or "is not on the PATH, and the cluster's login needs it"
        yield Line(check="kubelogin", state="pass" if there else "fail", found=found, remedy=remedy)


def _of_azure(needs: Needs, azure: Azure, subscription_id: str) -> Iterator[Line]:
    """Every check that calls Azure; without a login, none of them."""
    try:
        yield checks.subscription(azure.subscription())
    except AzureError as error:
        yield Line(check="subscription", state="fail", found=words_of(error), remedy=remedy_of(error))
        yield Line(check="all else in Azure", state="not checked", found="the subscription cannot be read")
        return
    region = needs.region
    try:
        there = azure.deployed(needs.group, needs.cluster)
        needs = needs.beyond(there)
    except AzureError as error:
        found = f"whether it is there already: {words_of(error)}; all its machines count as new"
        yield Line(check="cluster", state="not checked", found=found, remedy=_MAY_READ)
    else:
        yield from checks.definitions(needs)
        yield from upkeep.upkeep(needs.machines, there, datetime.now(tz=UTC).date())
    yield from _asked(
        "providers", azure.providers, lambda states: [checks.providers(states, needs.providers, subscription_id)]
    )
    yield from _asked("roles", azure.roles, lambda granted: _roles(needs, granted, subscription_id))
    yield from _asked(
        "feature",
        lambda: azure.feature(PROVIDER_NAMESPACE, FEATURE_NAME),
        lambda state: [checks.feature(needs, subscription_id, state)],
    )
    yield from _sizes_and_quota(needs.machines, region, azure, subscription_id)
    yield from _asked(
        "Kubernetes",
        lambda: azure.kubernetes_versions(region),
        lambda offered: [checks.kubernetes(needs, offered), *upkeep.patch(needs, offered)],
    )
    if needs.network is not None:
        yield from _asked("addresses", azure.networks, lambda found: [checks.networks(needs, found)])
    for subnet_id in needs.subnets:
        yield from _subnet(needs, azure, subnet_id)
    if rehearsed() is None:
        sizes = sorted({needed.vm_size for needed in needs.machines})
        yield from _asked("price", lambda: prices.prices(sizes, region), lambda found: checks.price(needs, found))
    else:
        yield Line(check="price", state="not checked", found="a rehearsal costs nothing")
    found = "quota is not capacity: Azure reports capacity only when it creates machines"
    yield Line(check="capacity", state="not checked", found=found)


def _of_adopted(taken: AdoptedPoolsArgs, validation: str, azure: Azure, subscription_id: str) -> Iterator[Line]:
    """Every check of node pools that the stack has taken over in a cluster of others."""
    group, cluster = taken.resource_group, taken.cluster_name
    try:
        yield checks.subscription(azure.subscription())
    except AzureError as error:
        yield Line(check="subscription", state="fail", found=words_of(error), remedy=remedy_of(error))
        return
    try:
        there = azure.deployed(group, cluster)
    except AzureError as error:
        yield Line(check="cluster", state="not checked", found=words_of(error), remedy=_MAY_READ)
        return
    names = [asked.name for _, asked, _ in taken.pools]
    yield adopted.cluster(cluster, names, there)
    if there is None:
        return
    for name in filter(there.pools.get, names):
        yield from _asked(
            f"rights on {name}",
            functools.partial(azure.permissions, group, cluster, name),
            functools.partial(adopted.rights_on, f"{name} of cluster {cluster}"),
        )
    machines = beyond([needed(pool, asked, validation) for pool, asked, _ in taken.pools], there)
    yield from upkeep.upkeep(machines, there, datetime.now(tz=UTC).date())
    yield from _sizes_and_quota(machines, there.region, azure, subscription_id)


def _sizes_and_quota(
    machines: Sequence[MachinesNeeded], region: str, azure: Azure, subscription_id: str
) -> Iterator[Line]:
    return _asked(
        "sizes and quota",
        lambda: (azure.offers(region), azure.usages(region)),
        lambda found: [
            *checks.sizes(machines, region, found[0]),
            *checks.quota(machines, region, *found, subscription_id),
        ],
    )


def _roles(needs: Needs, granted: Sequence[Role], subscription_id: str) -> Iterator[Line]:
    yield roles.roles(needs, granted, subscription_id)
    if (later := roles.later(granted, subscription_id)) is not None:
        yield later


def _subnet(needs: Needs, azure: Azure, subnet_id: str) -> Iterator[Line]:
    return _asked("subnet", lambda: azure.subnet(subnet_id), lambda found: [checks.subnet(needs, found)])


def _asked(check: str, ask: Callable[[], _Found], judge: Callable[[_Found], Iterable[Line]]) -> Iterator[Line]:
    try:
        answer = ask()
    except AzureError as error:
        yield Line(check=check, state="not checked", found=words_of(error), remedy=_MAY_READ)
    else:
        yield from judge(answer)
