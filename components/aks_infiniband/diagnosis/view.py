"""The objects read from a cluster, as plain data, and the wait that failed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

WaitingFor = Literal[
    "namespace",
    "release",
    "nic-cluster-policy",
    "nic-node-policy",
    "cluster-policy",
    "device-config",
    "ip-pool",
    "ipoib-network",
    "daemon-set",
    "job",
]

Object = Mapping[str, Any]
"""A Kubernetes object as JSON."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wait:
    """A wait that failed."""

    waiting_for: WaitingFor
    name: str
    namespace: str = ""
    errors: Sequence[str] = ()
    """The engine's errors, newest first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that is wrong."""

    what: str
    """The finding, naming the object."""
    cause: str | None = None
    """The likely cause."""
    command: str | None = None
    """The next thing to run."""
    symptom: str = ""
    """Its id in the doctor's catalogue; empty if no operator or node is to blame."""
    fix: str | None = None
    """The remedy, if it is more than the catalogue's."""
    about: str = ""
    """Kind and name of the object that shows it, such as pod network-operator/mofed-x."""

    def lines(self) -> Iterator[str]:
        """The finding as an entry of a list in a terminal."""
        yield "  - " + self.what.replace("\n", "\n    ")
        if self.cause:
            yield f"    likely cause: {self.cause}"
        if self.fix:
            yield f"    what helps: {self.fix}"
        if self.command:
            yield f"    next: {self.command}"


@dataclass(kw_only=True, slots=True)
class View:
    """The objects a diagnosis looks at; lists stay empty for what could not be read, and `unread` says why."""

    nodes: list[Object] = field(default_factory=list)
    pods: list[Object] = field(default_factory=list)
    daemon_sets: list[Object] = field(default_factory=list)
    deployments: list[Object] = field(default_factory=list)
    jobs: list[Object] = field(default_factory=list)
    config_maps: list[Object] = field(default_factory=list)
    policies: list[Object] = field(default_factory=list)
    """The NicClusterPolicies, NicNodePolicies, ClusterPolicies and DeviceConfigs."""
    networks: list[Object] = field(default_factory=list)
    """The IPoIBNetworks and IPPools."""
    release_secrets: list[Object] = field(default_factory=list)
    """Metadata of Helm's release Secrets; never their data."""
    events: list[Object] = field(default_factory=list)
    """The scheduler's words on pods, which outlive them, and the reasons why pods were not made or started."""
    logs: dict[str, str] = field(default_factory=dict)
    """The end of the log of pods that have something to say, by namespace/name."""
    unread: list[str] = field(default_factory=list)


_DEVICE_PLUGINS: Final = ("rdma-shared-dp", "sriovdp")
"""Label app of the Network Operator's device plugins; if pools differ, the pool's name is behind it."""


def is_device_plugin(pod: Object) -> bool:
    """True if the pod is one of the Network Operator's RDMA device plugins."""
    app = str((pod["metadata"].get("labels") or {}).get("app", ""))
    return app.startswith(_DEVICE_PLUGINS)


def name_of(item: Object) -> str:
    """Namespace and name of an object, as kubectl writes them."""
    metadata = item["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def in_namespace(items: Sequence[Object], *namespaces: str) -> list[Object]:
    """The objects of some namespaces."""
    return [item for item in items if item["metadata"].get("namespace") in namespaces]


def labelled(items: Sequence[Object], selector: Mapping[str, str]) -> list[Object]:
    """The objects whose labels carry every pair of a selector."""
    return [item for item in items if selector.items() <= (item["metadata"].get("labels") or {}).items()]


def pairs(labels: Mapping[str, str], separator: str = ", ") -> str:
    """Labels as kubectl writes them."""
    return separator.join(f"{key}={value}" for key, value in labels.items())


def describe(kind: str, item: Object) -> str:
    """The command that shows everything about an object."""
    metadata = item["metadata"]
    namespace = f"-n {metadata['namespace']} " if metadata.get("namespace") else ""
    return f"kubectl {namespace}describe {kind} {metadata['name']}"


def shown_by(
    kind: str,
    item: Object,
    symptom: str,
    what: str,
    *,
    cause: str | None = None,
    fix: str | None = None,
    command: str | None = None,
) -> Finding:
    """A finding that one object shows.

    what: continues the object's kind and name. command: by default the one that describes the object.
    """
    about, command = f"{kind} {name_of(item)}", command or describe(kind.lower(), item)
    return Finding(symptom=symptom, about=about, what=f"{about}{what}", cause=cause, fix=fix, command=command)


def condition(item: Object, kind: str) -> Mapping[str, Any]:
    """An object's status condition; empty when it has none of that type."""
    conditions: Sequence[Mapping[str, Any]] = item.get("status", {}).get("conditions") or []
    return next((entry for entry in conditions if entry.get("type") == kind), {})


def why_not_made(kind: str, owner: Object, view: View) -> str:
    """The last reason for which pods of a DaemonSet or Job were refused; empty if none was."""
    return last_word([event for event in view.events if event.get("reason") == "FailedCreate"], kind, owner)


def last_word(events: Sequence[Object], kind: str, item: Object) -> str:
    """The newest message among the events that are about an object; empty if there is none."""
    said = [event for event in events if is_about(event, kind, item)]
    return str(max(said, key=seen).get("message")) if said else ""


def is_about(event: Object, kind: str, item: Object) -> bool:
    """True if an event is about this very object, not about an earlier one of its name, which has another uid."""
    about, metadata = event["involvedObject"], item["metadata"]
    if (about.get("kind"), about.get("name")) != (kind, metadata["name"]):
        return False
    if about.get("uid") and metadata.get("uid"):
        return bool(about["uid"] == metadata["uid"])
    return about.get("namespace") in (None, metadata.get("namespace"))


def seen(event: Object) -> str:
    """When an event happened last, in ISO 8601."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return str(next(filter(None, times), ""))


def is_unready(pod: Object, status: Mapping[str, Any]) -> bool:
    """True if the container of a status runs and keeps its pod from being ready."""
    running = (status.get("state") or {}).get("running") is not None
    return running and not status.get("ready") and condition(pod, "Ready").get("status") == "False"


def owners_of(item: Object) -> Sequence[Object]:
    """The owner references of an object."""
    owners: Sequence[Object] = item["metadata"].get("ownerReferences") or []
    return owners


def container_statuses(pod: Object) -> Iterator[Mapping[str, Any]]:
    """The statuses of a pod's containers, init containers first."""
    status = pod.get("status", {})
    yield from status.get("initContainerStatuses") or []
    yield from status.get("containerStatuses") or []
