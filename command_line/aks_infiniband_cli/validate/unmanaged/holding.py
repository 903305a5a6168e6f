"""Makes what a run needs in a cluster without a stack, shows that the run is alive, and takes all of it away again."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Final

from lightkube import ApiError, Client, codecs
from lightkube.generic_resource import create_namespaced_resource
from lightkube.resources.coordination_v1 import Lease
from lightkube.resources.core_v1 import Namespace, Pod

from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.run import stopped_by_signals
from aks_infiniband_cli.validate.unmanaged.documents import LABELS, LEASE, LEASE_SECONDS, Brought, is_of_a_run

create_namespaced_resource("resource.nvidia.com", "v1beta1", "ComputeDomain", "computedomains")
_RENEW_SECONDS: Final = 5.0
_GONE_SECONDS: Final = 180.0
"""Limit for Kubernetes to delete a namespace with its pods."""
_POLL_SECONDS: Final = 0.5

Say = Callable[[str], None]


@contextmanager
def brought(client: Client, run: Brought, say: Say) -> Iterator[None]:
    """Have all that a run brings in the cluster, and nothing of it afterwards, whatever happens meanwhile.

    Raises CommandError if the API server refuses, or has an object of that name already.
    """
    stop = threading.Event()
    with stopped_by_signals():
        try:
            _make(client, run)
            threading.Thread(target=_renew, args=(client, run.name, stop), daemon=True).start()
            yield
        finally:
            stop.set()
            say(f"Removing namespace {run.name}")
            remove(client, run.name)


def _make(client: Client, run: Brought) -> None:
    """Raises CommandError. An object that is there already is a refusal, and stays as it is."""
    try:
        made: Any = client.create(codecs.from_dict(run.namespace))
        for document in (run.lease(_now()), *run.contents(str(made.metadata.uid))):
            client.create(codecs.from_dict(document))
    except NO_ANSWER as error:
        raise CommandError(f"what the command needs could not be made in the cluster: {error}") from error


def _renew(client: Client, namespace: str, stop: threading.Event) -> None:
    """Show that this run is alive until it stops. If the API server is away, no other command can see that it
    is not.
    """
    while not stop.wait(_RENEW_SECONDS):
        try:
            client.patch(Lease, LEASE, {"spec": {"renewTime": _now()}}, namespace=namespace)
        except NO_ANSWER:
            continue


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def remove(client: Client, namespace: str) -> None:
    """Delete a run's namespace, and with it all that the run has made; wait until it is gone.

    One that does not say that it is a run's stays.
    """
    deadline = time.monotonic() + _GONE_SECONDS
    try:
        if not is_of_a_run(client.get(Namespace, namespace).to_dict()):
            return
        client.delete(Namespace, namespace)
        while time.monotonic() < deadline:
            client.get(Namespace, namespace)
            time.sleep(_POLL_SECONDS)
        why = f"it is not gone after {_GONE_SECONDS:g} s: a node on which its pods are may not answer"
    except NO_ANSWER as error:
        if isinstance(error, ApiError) and error.status.code == HTTPStatus.NOT_FOUND:
            return
        why = str(error)
    note(f"namespace {namespace} could not be removed ({why}): kubectl delete namespace {namespace}")


def clear_left(client: Client, say: Say, *, sleep: Callable[[float], None] = time.sleep) -> bool:
    """Delete what runs have left that were killed, as far as it is proven to be theirs. Returns whether anything was.

    A run is alive while its Lease is renewed. So a namespace whose Lease stays as it is for LEASE_SECONDS is a killed
    run's: no clock of another computer is believed. Raises CommandError if that cannot be seen.
    """
    try:
        namespaces = [each.to_dict() for each in client.list(Namespace, labels=dict[str, Any](LABELS))]
        left = [
            name_of(each) for each in namespaces if is_of_a_run(each) and "deletionTimestamp" not in each["metadata"]
        ]
        if not left:
            return False
        before = {name: _renewed(client, name) for name in left}
        say(f"Watching whether another run still uses {', '.join(left)}")
        sleep(LEASE_SECONDS)
        alive = [name for name in left if _renewed(client, name) != before[name]]
        strange = {name: _strange_pods(client, name) for name in left}
    except NO_ANSWER as error:
        raise CommandError(f"what earlier runs have left cannot be seen: {error}") from error
    for name in left:
        if name in alive:
            note(f"another validate is at work in namespace {name}; it stays")
        elif strange[name]:
            note(f"namespace {name} is left of a run that was killed, but {strange[name]} is not that run's: it stays")
        else:
            note(f"a run that was killed had left namespace {name}: deleting it")
            remove(client, name)
    return len(alive) < len(left)


def _strange_pods(client: Client, namespace: str) -> str:
    """The pods in a run's namespace that no Job has made, in words; empty if there are none."""
    inside = [pod.to_dict() for pod in client.list(Pod, namespace=namespace)]
    strange = [name_of(pod) for pod in inside if not _is_of_a_job(pod)]
    return f"pod {', '.join(strange[:3])}" if strange else ""


def _is_of_a_job(pod: Object) -> bool:
    owners: Sequence[Mapping[str, Any]] = pod["metadata"].get("ownerReferences") or ()
    return any(owner.get("kind") == "Job" and owner.get("controller") for owner in owners)


def _renewed(client: Client, namespace: str) -> str:
    """The time at which a run's Lease was renewed, as it is written; empty without one."""
    try:
        lease = client.get(Lease, LEASE, namespace=namespace).to_dict()
    except ApiError as error:
        if error.status.code != HTTPStatus.NOT_FOUND:
            raise
        return ""
    return str((lease.get("spec") or {}).get("renewTime"))
