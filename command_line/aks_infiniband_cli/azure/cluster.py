"""AKS as an upgrade needs it, through Azure's maintained client: what is there, what may follow, and the requests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Protocol

from azure.core.exceptions import HttpResponseError
from azure.core.polling import LROPoller

from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.errors import in_words, words_of
from aks_infiniband_cli.azure.operations import progress_of
from aks_infiniband_cli.console import CommandError, note

SUCCEEDED: Final = "Succeeded"
ENDED: Final = (SUCCEEDED, "Failed", "Canceled")
"""Provisioning states in which nothing is under way."""
UPGRADING: Final = ("Upgrading", "UpgradingNodeImageVersion")
"""Provisioning states in which Azure carries out the requests of `upgrade` (Azure, "Agent Pools - Get", and its
simulation's recordings).
"""
_NOTHING_TO_ABORT: Final = 409


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolThere:
    """A pool of the cluster as Azure shows it."""

    name: str
    system: bool
    version: str
    """Version of Kubernetes, with its patch: the one that its nodes have or are to get."""
    asked: str
    """The same as it was requested, such as 1.35."""
    image: str
    count: int
    state: str
    os_sku: str
    surges: bool
    """True if an upgrade adds machines; else it takes them away one after the other."""
    at_once: str
    """maxUnavailable."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterThere:
    """The cluster as Azure shows it."""

    version: str
    asked: str
    location: str
    state: str
    pools: Mapping[str, PoolThere]


@dataclass(frozen=True, kw_only=True, slots=True)
class Next:
    """The choices of a pool: the newest node image, and the system before its last upgrade."""

    image: str
    before: tuple[str, str] | None
    """Kubernetes and node image; None if Azure cannot roll back."""


class Operation(Protocol):
    """A request that Azure has accepted."""

    def done(self) -> bool:
        """True if it has ended."""

    def failure(self) -> str | None:
        """The cause of the failure, once it has ended; None if it succeeded."""


class _Polled:
    """state: the provisioning state of what is changed. The state shows the end if Azure does not report the
    operation's.
    """

    def __init__(self, poller: LROPoller[Any], state: Callable[[], str]) -> None:
        self._poller, self._state, self._told = poller, state, False

    def done(self) -> bool:
        progress, words = progress_of(self._poller)
        if progress != "unread":
            return progress != "running"
        if not self._told:
            self._told = True
            note(f"Azure accepted it, but does not report the progress: {words}; waiting for its provisioning state")
        return self._state() in ENDED

    def failure(self) -> str | None:
        progress, words = progress_of(self._poller)
        if progress != "unread":
            return words or None
        state = self._state()
        return None if state == SUCCEEDED else f"it is {state}, and Azure does not report why: {words}"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A request that Azure has accepted from a command that is gone. state: the provisioning state, the only sign of
    it.
    """

    state: Callable[[], str]

    def done(self) -> bool:
        return self.state() in ENDED

    def failure(self) -> str | None:
        state = self.state()
        return None if state == SUCCEEDED else f"it is {state}, and the command that requested it is gone"


class Aks:
    """One cluster. Methods raise CommandError with Azure's words."""

    def __init__(self, clients: Clients, group: str, name: str) -> None:
        self._client, self._place = clients.aks, (group, name)

    def read(self) -> ClusterThere:
        """The cluster and its pools. AKS answers a read a second of one cluster, and 60 at once (Microsoft's page
        quotas-skus-regions, read 2026-11-29); this program reads every two seconds at most.
        """
        with in_words(f"cluster {self._place[1]} cannot be read"):
            cluster = self._client.managed_clusters.get(*self._place)
        return ClusterThere(
            version=str(cluster.current_kubernetes_version),
            asked=str(cluster.kubernetes_version),
            location=str(cluster.location),
            state=str(cluster.provisioning_state),
            pools={str(pool.name): _pool(pool) for pool in cluster.agent_pool_profiles or ()},
        )

    def state(self, pool: str) -> str:
        """The provisioning state of a pool."""
        with in_words(f"pool {pool} cannot be read"):
            return str(self._client.agent_pools.get(*self._place, pool).provisioning_state)

    def after(self, version: str, location: str) -> Sequence[str]:
        """The versions to which AKS upgrades a control plane of a version, patches in full."""
        with in_words("the versions of Kubernetes cannot be read"):
            listed = self._client.managed_clusters.list_kubernetes_versions(location)
        patches = [patch for each in listed.values_property or () for patch in (each.patch_versions or {}).items()]
        return [newer for name, patch in patches if name == version for newer in patch.upgrades or ()]

    def next_of(self, pool: str) -> Next:
        """The newest node image of a pool, and the system before its last upgrade."""
        with in_words(f"what pool {pool} can have cannot be read"):
            profile = self._client.agent_pools.get_upgrade_profile(*self._place, pool)
        used = max(profile.recently_used_versions or (), key=_used_at, default=None)
        before = (str(used.orchestrator_version), str(used.node_image_version)) if used else None
        return Next(image=str(profile.latest_node_image_version), before=before)

    def upgrade_control_plane(self, version: str) -> Operation:
        """Request another version of the control plane alone: pools keep theirs.

        A request that Azure carries out already is not repeated: the command that sent it may be gone.
        """
        with in_words("Azure refuses the upgrade of the control plane"):
            wanted = self._client.managed_clusters.get(*self._place)
            if wanted.kubernetes_version == version and wanted.provisioning_state in UPGRADING:
                return _Seen(lambda: self.read().state)
            wanted.kubernetes_version = version
            for profile in wanted.agent_pool_profiles or ():
                profile.node_image_version = None  # to name one is to request a rollback
            begun = self._client.managed_clusters.begin_create_or_update(*self._place, wanted)
            return _Polled(begun, lambda: self.read().state)

    def upgrade_pool(self, pool: str, version: str, image: str | None = None) -> Operation:
        """Request a version of a pool, or continue the request, as `upgrade_control_plane` does.

        image: to roll it back to, with an older version.
        """
        with in_words(f"Azure refuses the upgrade of pool {pool}"):
            wanted = self._client.agent_pools.get(*self._place, pool)
            if image is None and wanted.orchestrator_version == version and wanted.provisioning_state in UPGRADING:
                return _Seen(lambda: self.state(pool))
            wanted.orchestrator_version, wanted.node_image_version = version, image
            begun = self._client.agent_pools.begin_create_or_update(*self._place, pool, wanted)
            return _Polled(begun, lambda: self.state(pool))

    def upgrade_image(self, pool: str) -> Operation:
        """Request the newest node image of a pool, or continue the request, as `upgrade_control_plane` does."""
        with in_words(f"Azure refuses another node image of pool {pool}"):
            if self.state(pool) in UPGRADING:
                return _Seen(lambda: self.state(pool))
            begun = self._client.agent_pools.begin_upgrade_node_image_version(*self._place, pool)
            return _Polled(begun, lambda: self.state(pool))

    def abort(self, pool: str) -> None:
        """End the operation on a pool; nothing happens if it has just ended."""
        try:
            self._client.agent_pools.begin_abort_latest_operation(*self._place, pool, polling=False)
        except HttpResponseError as error:
            if error.status_code != _NOTHING_TO_ABORT:
                raise CommandError(f"Azure does not end what is under way on pool {pool}: {words_of(error)}") from error


def _used_at(version: Any) -> datetime:
    """When a pool had a version last. Azure promises no order; azure-cli 2.91 takes the newest, too."""
    return version.timestamp or datetime.min.replace(tzinfo=UTC)


def _pool(profile: Any) -> PoolThere:
    settings = profile.upgrade_settings
    surge = str(getattr(settings, "max_surge", None) or "10%")
    return PoolThere(
        name=str(profile.name),
        system=str(getattr(profile.mode, "value", profile.mode)) == "System",
        version=str(profile.current_orchestrator_version),
        asked=str(profile.orchestrator_version),
        image=str(profile.node_image_version),
        count=int(profile.count or 0),
        state=str(profile.provisioning_state),
        os_sku=str(getattr(profile.os_sku, "value", profile.os_sku)),
        surges=surge.rstrip("%") != "0",
        at_once=str(getattr(settings, "max_unavailable", None) or "0"),
    )
