"""The plan for pools that no stack validates: the measurement of each, and the objects that it brings into the
cluster.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from aks_infiniband.diagnosis.collect import absent_kinds
from aks_infiniband.facts.compute_domains import API_VERSION
from aks_infiniband.operators.offered import Seen, found_pool, offers, privileged
from lightkube import Client

from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.run import Say
from aks_infiniband_cli.validate.unmanaged import holding, rights
from aks_infiniband_cli.validate.unmanaged.documents import Brought
from aks_infiniband_cli.validate.unmanaged.pools import (
    Asked,
    Chosen,
    Unmanaged,
    access_of,
    labels_of,
    unmanaged,
    validation_of,
)

_LOOK_SECONDS: Final = 30.0
_HOST: Final = "kubernetes.io/hostname"


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The pools of one command that no stack validates."""

    pools: Mapping[str, Unmanaged] = field(default_factory=dict)
    validations: Mapping[str, Deployed] = field(default_factory=dict)
    """As a stack would leave them, in the namespace that is brought."""
    brought: Brought = field(default_factory=Brought)

    def prepare(self, client: Client, say: Say, *, cordon: bool) -> bool:
        """Check the rights, and clear away the leftovers of killed runs. Returns whether the cluster is another since.

        Raises CommandError, before anything is made.
        """
        if not self.validations:
            return False
        rights.require(client, rights.needed(self.brought, cordon=cordon))
        for name, pool in self.pools.items():
            note(f"pool {name}, which no stack validates: {pool.told()}")
        note(f"The command makes its objects in namespace {self.brought.name}, and deletes both at the end")
        return holding.clear_left(client, say)

    @contextmanager
    def there(self, client: Client, say: Say, *, needed: bool) -> Iterator[None]:
        """Have in the cluster what the validations need. needed: whether any of them is run."""
        if not needed:
            yield
            return
        say(f"Making namespace {self.brought.name}")
        with holding.brought(client, self.brought, say):
            yield


def planned(kubeconfig: str, chosen: Sequence[Chosen], asked: Asked) -> Plan:
    """The plan to measure pools that no stack validates. Raises CommandError if the cluster leaves it open."""
    if not chosen:
        return Plan()
    seen, unread = offers(kubeconfig)
    if unread:
        raise CommandError(f"how pods get InfiniBand cannot be read: {'; '.join(unread)}")
    nvlink = _knows_compute_domains(kubeconfig)
    pools = {each.name: unmanaged(each, seen, asked, nvlink=nvlink) for each in chosen}
    return plan_of(pools, asked)


def plan_of(pools: Mapping[str, Unmanaged], asked: Asked) -> Plan:
    """The plan for these pools: pure."""
    name = Brought().name
    access = access_of(list(pools.values()), asked, name)
    return Plan(
        pools=pools,
        validations={each: validation_of(pool, asked, access) for each, pool in pools.items()},
        brought=Brought(access=access, name=name),
    )


def plan_to_read(node: Object) -> Plan:
    """The plan for one machine that is only read, and not measured. Raises CommandError for one without InfiniBand."""
    name = name_of(node)
    way = privileged([node], Seen())  # its own pods mount what they read
    try:
        pool = found_pool("one", [node], way, selector={_HOST: labels_of(node).get(_HOST, name)}, nvlink=False)
    except ValueError as error:
        raise CommandError(f"node {name}: {error}") from error
    unmanaged, brought = Unmanaged(pool=pool, way=way), Brought()
    validation = validation_of(unmanaged, Asked(), access_of([unmanaged], Asked(), brought.name))
    return Plan(pools={}, validations={name: validation}, brought=brought)


def _knows_compute_domains(kubeconfig: str) -> bool:
    absent, unread = absent_kinds(
        kubeconfig, API_VERSION, {"ComputeDomain": "computedomains"}, limit_seconds=_LOOK_SECONDS
    )
    return not absent and not unread
