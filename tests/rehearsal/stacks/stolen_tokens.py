"""Actions that a thief could try with a stolen token of each of our accounts, as data: docs/trust.md has the same rows.

`here` is the node of the pod whose token was stolen, `there` another node of the pool.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from aks_infiniband.facts.dranet import DRIVER
from aks_infiniband.facts.node_gate import NOT_MEASURED
from aks_infiniband.hosts import dranet
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation.payload.light_check.state import CONDITION, EVENT_REASONS, SOURCE
from aks_infiniband.validation.reports import WATCH_EVENT_REASONS, WATCH_SOURCE
from lightkube import ApiError, Client, KubeConfig, codecs
from lightkube.config.models import User
from lightkube.models.authentication_v1 import BoundObjectReference, TokenRequestSpec
from lightkube.models.meta_v1 import DeleteOptions, ObjectMeta, Preconditions
from lightkube.resources.batch_v1 import CronJob
from lightkube.resources.core_v1 import (
    ConfigMap,
    Node,
    NodeStatus,
    Pod,
    Secret,
    ServiceAccountToken,
)
from lightkube.resources.resource_v1 import ResourceClaimStatus, ResourceSlice
from lightkube.types import PatchType

from rehearsal.testing.stack import RehearsedStack

Account = Literal["light-check", "light-check-watch", "validation", "dranet"]
ACCOUNTS: Final[tuple[Account, ...]] = ("light-check", "light-check-watch", "validation", "dranet")
_RESOURCE: Final = {"apiVersion": "resource.k8s.io/v1"}
_CLAIM: Final = "claimed-here"


@dataclass(frozen=True)
class Try:
    """One thing to try. refused: the API server's words; None if it is allowed, for the account's own work."""

    what: str
    do: Callable[[Client, str, str], Any]
    refused: str | None


def _condition(node: str, **more: Any) -> Callable[[Client], Any]:
    said = {"type": CONDITION, "status": "False", "reason": "Forged", "message": "forged", **more}
    return lambda thief: thief.patch(NodeStatus, node, {"status": {"conditions": [said]}})


def _event_of(
    node: str, namespace: str = "default", *, source: str = SOURCE, reason: str = EVENT_REASONS[0], kind: str = "Node"
) -> Any:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "forged-", "namespace": namespace},
        "involvedObject": {"kind": kind, "name": node, "namespace": "" if kind == "Node" else namespace},
        "source": {"component": source, "host": node},
        "reason": reason,
        "type": "Warning",
        "message": "forged",
    }
    return codecs.from_dict(event)


def _slice_of(node: str, driver: str = DRIVER) -> Any:
    name = f"forged-{node}-{driver}"
    spec = {
        "driver": driver,
        "nodeName": node,
        "pool": {"name": f"{node}-forged", "generation": 1, "resourceSliceCount": 1},
        "devices": [],
    }
    return _slice_object(name, spec)


def _event(node: str, **more: Any) -> Callable[[Client], Any]:
    return lambda thief: thief.create(_event_of(node, **more))


def _slice(node: str, **more: Any) -> Callable[[Client], Any]:
    return lambda thief: thief.create(_slice_of(node, **more))


def _slice_object(name: str, spec: Mapping[str, Any]) -> Any:
    return codecs.from_dict({**_RESOURCE, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec})


def _claim(status: Mapping[str, Any], name: str = _CLAIM) -> Callable[[Client], Any]:
    return lambda thief: thief.patch(ResourceClaimStatus, name, {"status": status}, namespace="default")


def _on(make: Callable[..., Callable[[Client], Any]], where: Literal["here", "there"], **more: Any) -> Any:
    return lambda thief, here, there: make(here if where == "here" else there, **more)(thief)


def _any(do: Callable[[Client], Any]) -> Any:
    return lambda thief, here, there: do(thief)


FOREIGN: Final = {"key": "another.example/held", "effect": "NoSchedule"}
"""A taint of another program on the other node."""


def _spec(node: str, **changes: Any) -> Callable[[Client], Any]:
    return lambda thief: thief.patch(Node, node, {"spec": changes}, patch_type=PatchType.MERGE)


def _tainted(node: str) -> Callable[[Client], Any]:
    return _spec(node, taints=[{"key": NOT_MEASURED, "effect": "NoSchedule"}])


def _labelled(node: str) -> Callable[[Client], Any]:
    return lambda thief: thief.patch(Node, node, {"metadata": {"labels": {"agentpool": "other"}}})


def _cron_job(name: str, changes: Mapping[str, Any]) -> Callable[[Client], Any]:
    return lambda thief: thief.patch(CronJob, name, {"spec": dict(changes)}, namespace=SYSTEM_NAMESPACE)


def _evicts(namespace: str, uid: str | None) -> Callable[[Client], Any]:
    """The eviction of a pod. uid: the one that it is to have, None without that check."""
    only = DeleteOptions(preconditions=Preconditions(uid=uid)) if uid else None
    eviction = Pod.Eviction(metadata=ObjectMeta(name="x", namespace=namespace), deleteOptions=only)
    return lambda thief: thief.create(eviction, name="x", namespace=namespace)


_POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "forged", "namespace": SYSTEM_NAMESPACE},
    "spec": {"containers": [{"name": "main", "image": "registry.invalid/forged"}]},
}
_EVERYBODY: Final = (
    Try(
        "cordon a node",
        lambda thief, here, there: thief.patch(Node, here, {"spec": {"unschedulable": True}}),
        "cannot patch resource",
    ),
    Try("delete a node", lambda thief, here, there: thief.delete(Node, there), "cannot delete resource"),
    Try("read Secrets", _any(lambda thief: list(thief.list(Secret, namespace=SYSTEM_NAMESPACE))), "cannot list"),
    Try(
        "make a pod in our namespace",
        _any(lambda thief: thief.create(codecs.from_dict(_POD))),
        "cannot create",
    ),
    Try(
        "change the history of replace",
        _any(
            lambda thief: thief.patch(ConfigMap, "replaced-machines", {"data": {"x": "y"}}, namespace=SYSTEM_NAMESPACE)
        ),
        "cannot patch",
    ),
    Try(
        "change the record of machines",
        _any(lambda thief: thief.patch(ConfigMap, "machines", {"data": {"x": "y"}}, namespace=SYSTEM_NAMESPACE)),
        "cannot patch",
    ),
    Try(
        "get a token of another account",
        _any(lambda thief: _token(thief, "default", None)),
        "cannot create",
    ),
)
_ALONE: Final = "may change only a condition of the node that its pod is on"
_OWN_EVENTS: Final = "may report Events about its own pod's node alone"
TRIED: Final[Mapping[Account, tuple[Try, ...]]] = {
    "light-check": (
        *_EVERYBODY,
        Try("call its own node unhealthy", _on(_condition, "here"), None),
        Try("call another node unhealthy", _on(_condition, "there"), _ALONE),
        Try("call its own node not Ready", _on(_condition, "here", type="Ready"), "other conditions"),
        Try(
            "change its own node's capacity",
            lambda thief, here, there: thief.patch(NodeStatus, here, {"status": {"capacity": {"rdma/ib": "99"}}}),
            "may not change a node's status",
        ),
        Try(
            "change its own node's labels",
            lambda thief, here, there: thief.patch(NodeStatus, here, {"metadata": {"labels": {"agentpool": "other"}}}),
            "may not change a node's metadata",
        ),
        Try("report an Event about its own node", _on(_event, "here"), None),
        Try("report an Event about another node", _on(_event, "there"), _OWN_EVENTS),
        Try("report an Event about a pod", _on(_event, "here", kind="Pod"), _OWN_EVENTS),
        Try(
            "report an Event as AKS's repair",
            _on(_event, "here", source="aks-auto-repair", reason="NodeRebootStart"),
            f"names {SOURCE}",
        ),
        Try(
            "report a reason that is not the check's",
            _on(_event, "here", reason="NodeRebootStart"),
            "has only the reasons",
        ),
        Try("report an Event in another namespace", _on(_event, "here", namespace="kube-system"), "cannot create"),
    ),
    "light-check-watch": (
        *(row for row in _EVERYBODY if row.what != "cordon a node"),
        Try("cordon a node", _on(_spec, "here", unschedulable=True), "the taints of a node alone"),
        Try("take the taint of another program away", _on(_spec, "there", taints=None), "other taints"),
        Try("taint a node for another program", _on(_spec, "here", taints=[FOREIGN]), "other taints"),
        Try("keep pods off a node that is not measured", _on(_tainted, "here"), None),
        Try("change a node's labels", _on(_labelled, "here"), "may not change a node's metadata"),
        Try("call a node unhealthy", _on(_condition, "here"), "cannot patch"),
        Try("have a light check run", _any(_cron_job("own-light-check-now", {"suspend": True})), None),
        Try(
            "have other pods run",
            _any(_cron_job("own-light-check-now", {"schedule": "0 0 * * *"})),
            "the suspension of a CronJob alone",
        ),
        Try("stop the scheduled check", _any(_cron_job("own-light-check", {"suspend": True})), "cannot patch"),
        Try(
            "say that a node is admitted",
            _on(_event, "here", source=WATCH_SOURCE, reason=WATCH_EVENT_REASONS[1]),
            None,
        ),
        Try("report an Event as the check", _on(_event, "here"), f"names {WATCH_SOURCE}"),
        Try(
            "say of a pod that it is admitted",
            _on(_event, "here", kind="Pod", source=WATCH_SOURCE, reason=WATCH_EVENT_REASONS[1]),
            "may report Events about nodes, and InfiniBandMaintenance about others",
        ),
        Try("evict a pod of the operators", _any(_evicts("network-operator", "0")), "may not evict pods of Kubernetes"),
        Try("evict a pod of ours", _any(_evicts(SYSTEM_NAMESPACE, "0")), "may not evict pods of Kubernetes"),
        Try("evict whatever has a name", _any(_evicts("default", None)), "without a check of its uid"),
        Try("delete a pod", _any(lambda thief: thief.delete(Pod, "x", namespace="default")), "cannot delete"),
    ),
    "validation": (
        *_EVERYBODY,
        Try("call its own node unhealthy", _on(_condition, "here"), "cannot patch"),
        Try("report an Event about its own node", _on(_event, "here"), "cannot create"),
        Try("read the nodes", _any(lambda thief: list(thief.list(Node))), None),
    ),
    "dranet": (
        *_EVERYBODY,
        Try("call its own node unhealthy", _on(_condition, "here"), "cannot patch"),
        Try("publish devices of its own node", _on(_slice, "here"), None),
        Try("withdraw them", lambda thief, here, there: thief.delete(ResourceSlice, f"forged-{here}-{DRIVER}"), None),
        Try("publish devices of another node", _on(_slice, "there"), "of the node that its pod is on"),
        Try("publish devices of another driver", _on(_slice, "here", driver="gpu.nvidia.com"), "alone"),
        Try(
            "withdraw the devices of another node",
            lambda thief, here, there: thief.delete(ResourceSlice, f"there-{DRIVER}"),
            "of the node that its pod is on",
        ),
        Try(
            "report on a device that its own node has given",
            lambda thief, here, there: _claim({"devices": [_device(here)]})(thief),
            None,
        ),
        Try(
            "report on a device of another node",
            lambda thief, here, there: _claim({"devices": [_device(there)]})(thief),
            "claim",
        ),
        Try("take a claim's devices away", _any(_claim({"allocation": None, "devices": None})), "claim"),
        Try("report an Event as the kubelet", _on(_event, "here", source="kubelet", kind="Pod"), "as itself"),
        Try(
            "report an Event about a node",
            _on(_event, "here", source=DRIVER),
            "about pods and claims alone",
        ),
        Try("report an Event about a pod", _on(_event, "here", source=DRIVER, kind="Pod"), None),
    ),
}
"""By account. The first rows are tried with a token of each."""
WRITES_OF: Final[Mapping[Account, str]] = {
    "light-check": "call its own node unhealthy",
    "dranet": "publish devices of its own node",
}
"""Actions that a token that is bound to no pod may not do either, although a pod's may."""


def _device(node: str) -> dict[str, Any]:
    return {"driver": DRIVER, "pool": node, "device": "hca", "conditions": []}


def _token(client: Client, account: str, pod: Any) -> str:
    bound = pod and BoundObjectReference(apiVersion="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid)
    request = ServiceAccountToken(metadata=ObjectMeta(), spec=TokenRequestSpec(audiences=[], boundObjectRef=bound))
    given = client.create(request, account, namespace=SYSTEM_NAMESPACE)
    assert given.status
    return str(given.status.token)


def thief(stack: RehearsedStack, account: str, node: str | None) -> Client:
    """A client with a token of an account in our own namespace: of a pod on this node, or of none."""
    client, pod = stack.cluster(), None
    if node:
        document = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"robbed-{account}", "namespace": SYSTEM_NAMESPACE},
            "spec": {
                "serviceAccountName": account,
                "nodeName": node,
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "main", "image": "registry.invalid/robbed"}],
            },
        }
        pod = client.apply(codecs.from_dict(document), field_manager="test")
    config = KubeConfig.from_file(stack.rehearsal.run.kubeconfig)
    user = User(token=_token(client, account, pod))
    cluster = next(iter(config.clusters.values()))
    return Client(config=KubeConfig.from_one(cluster=cluster, user=user), trust_env=False)


def refusal(attempt: Try, client: Client, here: str, there: str) -> str | None:
    """The API server's words; None if it obeys."""
    try:
        attempt.do(client, here, there)
    except ApiError as error:
        return str(error)
    return None


def bring_dranet(client: Client, here: str, there: str) -> None:
    """The account of dranet with its rights and their limits, without its pods, and what there is to be taken: a
    slice of another node, and a claim whose device is its own node's.
    """
    name = f"aks-infiniband-{dranet.NAME}"
    subject = {"kind": "ServiceAccount", "name": dranet.NAME, "namespace": SYSTEM_NAMESPACE}
    api, rbac = "admissionregistration.k8s.io/v1", "rbac.authorization.k8s.io"
    documents: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "dranet", "namespace": SYSTEM_NAMESPACE}},
        {"apiVersion": f"{rbac}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": dranet.rules()},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name},
            "subjects": [subject],
        },
    ]
    for end, spec in dranet.policies(SYSTEM_NAMESPACE).items():
        policy = {"policyName": f"{name}{end}", "validationActions": ["Deny"]}
        metadata = {"name": f"{name}{end}"}
        documents += [
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": spec},
            {"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": policy},
        ]
    for document in documents:
        client.apply(codecs.from_dict(document), field_manager="test")
    pool = {"name": "there", "generation": 1, "resourceSliceCount": 1}
    taken = {"driver": DRIVER, "nodeName": there, "pool": pool, "devices": []}
    client.apply(_slice_object(f"there-{DRIVER}", taken), field_manager="test")
    requests = [{"name": "hca", "exactly": {"deviceClassName": "none"}}]
    named = {"name": _CLAIM, "namespace": "default"}
    claim = {**_RESOURCE, "kind": "ResourceClaim", "metadata": named, "spec": {"devices": {"requests": requests}}}
    client.apply(codecs.from_dict(claim), field_manager="test")
    result = {"request": "hca", "driver": DRIVER, "pool": here, "device": "hca"}
    field = {"key": "metadata.name", "operator": "In", "values": [here]}  # as the scheduler binds devices of a node
    allocation = {"devices": {"results": [result]}, "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]}}
    client.patch(ResourceClaimStatus, _CLAIM, {"status": {"allocation": allocation}}, namespace="default")


def are_held(thief: Client, there: str) -> bool:
    """True if the API server has read dranet's policies, which it does a moment after they are made."""
    tries: tuple[Any, ...] = (_slice_of(there), _event_of(there))
    return all(_is_refused(thief, made) for made in tries)


def _is_refused(thief: Client, made: Any) -> bool:
    try:
        thief.create(made, dry_run=True)
    except ApiError:
        return True
    return False
