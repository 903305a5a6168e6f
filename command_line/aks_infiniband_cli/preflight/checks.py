"""Each check: from what a stack needs and what Azure says to a line. Pure functions."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from aks_infiniband.azure.feature import ABSENT, FEATURE_NAME, unwanted
from aks_infiniband.azure.provider_registration import PROVIDER_NAMESPACE
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.observability.definitions import BRING, KINDS, lacking
from aks_infiniband.observability.documents import GROUPS, Prometheus
from aks_infiniband.stack.beforehand import Look

from aks_infiniband_cli.azure.answers import Network, Offer, Subnet, Subscription, Usage
from aks_infiniband_cli.preflight.needs import MachinesNeeded, Needs

State = Literal["pass", "fail", "not checked"]
DEFINITIONS: Final = "definitions of Prometheus"
REGIONAL: Final = "cores"
"""Azure's name of the quota over all families of a region."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the answer. found: the finding; remedy: the action, None if none is needed."""

    check: str
    state: State
    found: str
    remedy: str | None = None


def subscription(there: Subscription) -> Line:
    """Check that the subscription takes new machines."""
    text = f"{there.name} ({there.id}), tenant {there.tenant}: {there.state}"
    if there.state == "Enabled":
        return Line(check="subscription", state="pass", found=text)
    remedy = "a subscription that is not Enabled takes no new resources: see its overview in the Azure portal"
    return Line(check="subscription", state="fail", found=text, remedy=remedy)


def providers(states: Mapping[str, str], wanted: Iterable[str], subscription_id: str) -> Line:
    """Check that the resource providers are registered. states: by namespace."""
    missing = [name for name in wanted if states.get(name) != "Registered"]
    if not missing:
        return Line(check="providers", state="pass", found="all are registered")
    commands = [f"az provider register --subscription {subscription_id} --namespace {name}" for name in missing]
    found = ", ".join(f"{name} is {states.get(name, 'not known')}" for name in missing)
    return Line(check="providers", state="fail", found=found, remedy="; ".join(commands))


def feature(needs: Needs, subscription_id: str, state: str) -> Line:
    """Check that the feature that puts InfiniBand machines on one fabric is as the sizes need it."""
    found = f"{FEATURE_NAME} is {state}"
    if not needs.feature:
        if state in ABSENT:
            return Line(check="feature", state="pass", found=f"{found}, as GB200 and GB300 need it")
        return Line(check="feature", state="fail", found=found, remedy=unwanted(subscription_id, state))
    if state == "Pending":
        remedy = "Microsoft has to approve it: register it in the Azure portal, Preview features"
        return Line(check="feature", state="fail", found=found, remedy=remedy)
    if state == "Registered":
        return Line(check="feature", state="pass", found=found)
    command = f"az feature register --subscription {subscription_id} --namespace {PROVIDER_NAMESPACE}"
    remedy = f"nothing: `pulumi up` registers it and waits, about 10 minutes; sooner: {command} --name {FEATURE_NAME}"
    return Line(check="feature", state="pass", found=found, remedy=remedy)


def sizes(machines: Sequence[MachinesNeeded], region: str, offers: Mapping[str, Offer]) -> list[Line]:
    """Check that the region offers each pool's size to the subscription, in the pool's zones. offers: by size."""
    return [_size(needed, region, offers.get(needed.vm_size)) for needed in machines]


def _size(needed: MachinesNeeded, region: str, offer: Offer | None) -> Line:
    check, vm_size, zones = f"size of {needed.pool}", needed.vm_size, needed.zones
    if needed.there >= needed.count:
        return Line(check=check, state="pass", found=f"{needed.there} × {vm_size} are there already")
    other = f"az vm list-skus --size {vm_size} --all --query '[].[locations[0], restrictions]' lists all regions"
    if offer is None:
        return Line(check=check, state="fail", found=f"{region} has no {vm_size}", remedy=other)
    if offer.refused is not None:
        remedy = f"request access: Azure portal, Help + support, Service and subscription limits (quotas); {other}"
        return Line(check=check, state="fail", found=f"{vm_size} in {region}: {offer.refused}", remedy=remedy)
    missing = [zone for zone in zones if zone not in offer.zones or zone in offer.refused_zones]
    if missing:
        left = ", ".join(sorted(offer.zones - offer.refused_zones)) or "none"
        found = f"{vm_size} is not offered in zone {', '.join(missing)} of {region}"
        return Line(check=check, state="fail", found=found, remedy=f"zones that offer it: {left}")
    known = SIZES.get(vm_size)
    until = f", until {known.retires}, when Azure retires the size" if known and known.retires else ""
    return Line(check=check, state="pass", found=f"{region} offers {vm_size}{until}")


def quota(
    machines: Sequence[MachinesNeeded],
    region: str,
    offers: Mapping[str, Offer],
    usages: Mapping[str, Usage],
    subscription_id: str,
) -> list[Line]:
    """VCPUs × machines to come, surge included, against each family's quota and the region's.

    usages: by Azure's name of the quota.
    """
    wanted: dict[str, int] = {}
    for needed in machines:
        if offer := offers.get(needed.vm_size):
            vcpus = offer.vcpus * needed.added
            for name in (offer.family, REGIONAL):
                wanted[name] = wanted.get(name, 0) + vcpus
    return [_quota(name, vcpus, region, usages, subscription_id) for name, vcpus in sorted(wanted.items())]


def _quota(name: str, vcpus: int, region: str, usages: Mapping[str, Usage], subscription_id: str) -> Line:
    check = f"quota {name}"
    known = next((known for known in usages if _spelled(known) == _spelled(name)), None)
    if known is None:
        return Line(check=check, state="not checked", found=f"Azure names no quota {name} in {region}")
    usage = usages[known]
    found = f"{vcpus} vCPUs wanted, {usage.current} of {usage.limit} in use in {region}"
    short = usage.current + vcpus - usage.limit
    if short <= 0:
        return Line(check=check, state="pass", found=found)
    scope = f"/subscriptions/{subscription_id}/providers/Microsoft.Compute/locations/{region}"
    request = (
        f"ask for {usage.current + vcpus}: az quota update --resource-name {shlex.quote(known)} --scope {scope} "
        f"--limit-object value={usage.current + vcpus} --resource-type dedicated"
    )
    return Line(check=check, state="fail", found=f"{found}: {short} short", remedy=request)


def _spelled(name: str) -> str:
    """A quota's name and a size's family differ by case and spaces at times (skypilot pull request 10650)."""
    return name.lower().replace(" ", "")


def kubernetes(needs: Needs, offered: Mapping[str, Sequence[str]]) -> Line:
    """Check that AKS makes clusters of the version with the plan. offered: support plans by version, patches
    included.
    """
    version, plan = needs.kubernetes_version, needs.support_plan
    if needs.version_there and f"{needs.version_there}.".startswith(f"{version}."):
        return Line(check="Kubernetes", state="pass", found=f"the cluster runs {needs.version_there} already")
    if plan in offered.get(version, ()):
        found = "; ".join([f"{needs.region} offers {version} with {plan}", *needs.release.unnamed(version)])
        return Line(check="Kubernetes", state="pass", found=found)
    others = ", ".join(known for known, plans in offered.items() if plan in plans) or "none"
    found = f"{needs.region} does not offer {version} with {plan}"
    return Line(check="Kubernetes", state="fail", found=found, remedy=f"kubernetesVersion with this plan: {others}")


def definitions(needs: Needs) -> list[Line]:
    """Check that a cluster of the program can have the definitions of a Prometheus: one that is yet to be made
    cannot.
    """
    if needs.prometheus is None:
        return []
    if needs.version_there:
        found = "`pulumi up` checks the cluster for them before it makes anything there"
        return [Line(check=DEFINITIONS, state="not checked", found=found)]
    found = f"a cluster that is yet to be made has {lacking(needs.prometheus, KINDS[needs.prometheus])}"
    remedy = f"set observability when the cluster is there and has them: {BRING[needs.prometheus]}"
    return [Line(check=DEFINITIONS, state="fail", found=found, remedy=remedy)]


def beforehand(look: Look) -> Line:
    """Check that others have made the objects that the stack needs in its cluster."""
    if look.lacking:
        found, remedies = "; ".join(what for what, _ in look.lacking), dict.fromkeys(do for _, do in look.lacking)
        return Line(check=look.what, state="fail", found=found, remedy="; ".join(remedies))
    if look.unread:
        return Line(check=look.what, state="not checked", found=look.unread)
    return Line(check=look.what, state="pass", found=look.found)


def definitions_there(prometheus: Prometheus, absent: Sequence[str], unread: Sequence[str]) -> Line:
    """Check that an existing cluster has the definitions of its Prometheus. unread: the reason why it could not be
    read.
    """
    if absent:
        found, remedy = f"the cluster has {lacking(prometheus, absent)}", BRING[prometheus]
        return Line(check=DEFINITIONS, state="fail", found=found, remedy=remedy)
    if unread:
        return Line(check=DEFINITIONS, state="not checked", found=unread[0])
    found = f"the cluster has {' and '.join(KINDS[prometheus])} of {GROUPS[prometheus]}"
    return Line(check=DEFINITIONS, state="pass", found=found)


def networks(needs: Needs, there: Sequence[Network]) -> Line:
    """Check that the network that is made can be peered with those that are there."""
    assert needs.network is not None
    others = [known for known in there if f"/resourcegroups/{needs.group}/".lower() not in known.id.lower()]
    clashing = [known.id for known in others for prefix in known.prefixes if prefix.overlaps(needs.network)]
    if not clashing:
        text = f"{needs.network} overlaps no network of the subscription"
        return Line(check="addresses", state="pass", found=text)
    text = f"{needs.network} overlaps {', '.join(clashing)}"
    remedy = "nothing, unless the networks are to be peered: then set cluster.network.addressSpace and subnet"
    return Line(check="addresses", state="pass", found=text, remedy=remedy)


def subnet(needs: Needs, there: Subnet) -> Line:
    """Check that an existing subnet is large enough for the machines, and overlaps neither pods nor services."""
    check, nodes = f"subnet {there.id.rsplit('/', 1)[-1]}", sum(each.added for each in needs.machines)
    overlapping = [str(given) for given in needs.ranges if given.overlaps(there.prefix)]
    if overlapping:
        text = f"{there.prefix} overlaps {', '.join(overlapping)}"
        return Line(check=check, state="fail", found=text, remedy="set cluster.network.podCidr or serviceCidr")
    text = f"{there.prefix} has {there.free} free addresses; the machines to come take {nodes}, with those of upgrades"
    if there.free < nodes:
        return Line(check=check, state="fail", found=text, remedy="name a larger subnet, or free addresses")
    return Line(check=check, state="pass", found=text)


def price(needs: Needs, prices: Mapping[str, float]) -> list[Line]:
    """The machines' cost an hour, and while they are validated once. prices: USD of one machine, by size."""
    unknown = sorted({needed.vm_size for needed in needs.machines} - set(prices))
    if unknown:
        found = f"Azure's retail prices have no {', '.join(unknown)} in {needs.region}"
        return [Line(check="price", state="not checked", found=found, remedy="request an offer")]
    parts = [f"{each.count} × {each.vm_size} {prices[each.vm_size]:g}" for each in needs.machines]
    total = sum(each.count * prices[each.vm_size] for each in needs.machines)
    text = f"{total:.2f} USD an hour, pay as you go, without disks and traffic: {', '.join(parts)}"
    return [Line(check="price", state="pass", found=text), *_price_of_validation(needs, prices)]


def _price_of_validation(needs: Needs, prices: Mapping[str, float]) -> Iterator[Line]:
    validated = [each for each in needs.machines if each.validated]
    if validated:
        parts = [f"{each.validated} × {each.vm_size}" for each in validated]
        hourly = sum(each.validated * prices[each.vm_size] for each in validated)
        most, minutes = hourly * needs.validation_seconds / 3600, needs.validation_seconds / 60
        found = f"{most:.2f} USD at most: {', '.join(parts)}, {minutes:g} minutes (validation.timeoutSeconds)"
        yield Line(check="price of one validation", state="pass", found=found)
