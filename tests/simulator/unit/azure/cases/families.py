"""The kinds of cases, and the outcome of a case of each.

A case has what differs from the usual request for a cluster (`cluster`) and for a pool of two H100 (`pool`), from the
usual subscription (`subscription`), and earlier and later requests (`first`, `then`), each for a resource or one of
`ACTIONS`. The outcome is Azure's refusals, and what differs from the usual pool and its machines.
"""

import base64
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml
from pulumi.runtime.proto import provider_pb2

from rehearsal.azure.node_images import newest_release
from rehearsal.azure.node_parts import MACHINE_ANNOTATION
from rehearsal.azure.resources import features
from rehearsal.azure.resources.autoscaling import AUTOSCALE
from rehearsal.azure.wire import UNKNOWN, Properties, from_struct, to_struct
from tests.cases import GONE, Case, patched, replaced
from tests.simulator.unit.azure.asking import (
    FEATURE,
    SUBSCRIPTION,
    Azure,
    RefusedError,
    cluster_inputs,
    deployment_inputs,
    pool_inputs,
)
from tests.simulator.unit.azure.pools import CLUSTER, POOL, machines

TYPES: Final[Mapping[str, tuple[str, str]]] = {
    "cluster": (CLUSTER, "aks"),
    "far": (CLUSTER, "far"),
    "group": ("resources:ResourceGroup", "rg"),
    "network": ("network:VirtualNetwork", "net"),
    "subnet": ("network:Subnet", "nodes"),
    "second": ("network:Subnet", "x"),
    "identity": ("managedidentity:UserAssignedIdentity", "aks"),
    "assignment": ("authorization:RoleAssignment", "x"),
    "again": ("authorization:RoleAssignment", "again"),
    "alerts": ("alertsmanagement:PrometheusRuleGroup", "x"),
    "deployment": ("resources:DeploymentAtSubscriptionScope", "x"),
    "registration": ("features:SubscriptionFeatureRegistration", "x"),
}
"""By its name in cases, the type and name of a resource; any other name is a pool's."""
AT_SUBSCRIPTION: Final = ("assignment", "again", "deployment", "registration")
CONTRIBUTOR: Final = "/providers/Microsoft.Authorization/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"
ASSIGNMENT: Final = {
    "principalId": "identity.principalId",
    "principalType": "ServicePrincipal",
    "scope": "group.id",
    "roleDefinitionId": CONTRIBUTOR,
}
SUBNET: Final = {"virtualNetworkName": "network.name", "addressPrefix": "10.10.0.0/24"}
RULE: Final = {"alert": "LinkDown", "expression": "up == 0", "for": "PT2M", "severity": 0}
USUAL_INPUTS: Final[Mapping[str, Properties]] = {
    "network": {"addressSpace": {"addressPrefixes": ["10.10.0.0/16"]}},
    "subnet": SUBNET,
    "second": {**SUBNET, "addressPrefix": "10.10.1.0/24"},
    "identity": {},
    "assignment": ASSIGNMENT,
    "again": ASSIGNMENT,
    "alerts": {
        "ruleGroupName": "hcas",
        "location": "southcentralus",
        "scopes": [next(iter(SUBSCRIPTION.monitor_workspaces))],
        "rules": [RULE],
    },
    "deployment": deployment_inputs(),
    "registration": dict(zip(("providerNamespace", "featureName"), FEATURE.split("/"), strict=True)),
}
"""By its name in cases, inputs that Azure takes."""
_FIXED: Final = "6dae42f8|80faf920|22222222|33333333|77777777"
"""The beginnings of IDs that are facts: AKS's server and client, the identity of others, and the user."""
_MADE_UP: Final = (
    (re.compile(r"(rg|aks-?|far|net|x)[0-9a-f]{8}(?![0-9a-f])"), r"\1"),
    (re.compile(r"-\d{8}-vmss"), "-vmss"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?"), "TIME"),
    (re.compile(r"(?<![0-9a-f-])[0-9a-f]{24,32}(?![0-9a-f])"), "ID"),
    (re.compile(rf"(?!{_FIXED})[0-9a-f]{{8}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{4}}-[0-9a-f]{{12}}"), "UUID"),
    (re.compile(re.escape(newest_release(datetime.now(tz=UTC).date()))), "NEWEST"),
)
"""The parts of names and values that Azure makes up, or that the day decides."""


class Conversation:
    """A subscription, and what was made in it, by its name in cases."""

    def __init__(self, subscription: Mapping[str, Any], clusters: int = 1) -> None:
        given = SUBSCRIPTION.model_validate(patched(SUBSCRIPTION.model_dump(by_alias=True), dict(subscription)))
        self.azure = Azure(Path(tempfile.mkdtemp()), given, clusters=clusters)
        self.group = self.azure.create("resources:ResourceGroup", "rg")
        self.made: dict[str, Properties] = {"group": self.group}

    def ask(self, kind: str, change: Any) -> None:
        """Request a resource, another state of it, or one of `ACTIONS`; `gone` deletes it."""
        type_, name = TYPES.get(kind, (POOL, kind))
        change = self.with_names(change)
        if kind in ACTIONS:
            ACTIONS[kind](self, change)
        elif change == GONE:
            self.azure.delete(
                type_, name, self.made.get(kind) or {"id": f"{self.made['cluster']['id']}/agentPools/{kind}"}
            )
            self.made.pop(kind, None)
        elif kind in self.made:
            news = {key: None if value == GONE else value for key, value in change.items()}
            self.made[kind] = self.azure.update(type_, name, self.made[kind], **news)
        else:
            self.create(kind, patched(self.usual_inputs(kind), change))

    def create(self, kind: str, wanted: Properties) -> None:
        """Create a resource. The engine keeps one that Azure had accepted before it failed."""
        type_, name = TYPES.get(kind, (POOL, kind))
        kept = len(self.azure.context.details)
        try:
            self.made[kind] = self.azure.create(type_, name, **wanted)
        except RefusedError:
            if type_ == POOL and len(self.azure.context.details) > kept:
                resource = f"{self.made['cluster']['id']}/agentPools/{name}"
                inputs, _ = self.azure.check(type_, name, wanted)
                self.made[kind] = {**self.azure.read(type_, name, resource), "id": resource, "__inputs": inputs}
            raise

    def with_names(self, change: Any) -> Any:
        """A change with what Azure made up in place of `cluster.id` and the like."""
        for kind, outputs in self.made.items():
            for key in ("id", "name", "principalId"):
                change = replaced(change, f"{kind}.{key}", str(outputs.get(key)))
        return change

    def usual_inputs(self, kind: str) -> Properties:
        """Inputs that Azure takes."""
        if kind in ("cluster", "far"):
            return cluster_inputs(self.group)
        if kind not in TYPES:
            return pool_inputs(self.made["cluster"])
        inputs = USUAL_INPUTS[kind]
        in_group = {} if kind in AT_SUBSCRIPTION else {"resourceGroupName": self.group["name"]}
        return {**in_group, **dict(self.with_names(inputs))}

    def requested(self, case: Case) -> list[str | None]:
        """Make the requests of a case: the refusal of each, if it is one."""
        requests = [request for step in case.get("first", ()) for request in step.items()]
        requests += [("cluster", case.get("cluster", {}))]
        requests += [(kind, case[kind]) for kind in case if kind in ("pool", "other")]
        requests += [request for step in case.get("then", ()) for request in step.items()]
        return [self.refusal_of(kind, change) for kind, change in requests]

    def refusal_of(self, kind: str, change: Any) -> str | None:
        """Make a request. Returns Azure's refusal, if it is one."""
        try:
            self.ask(kind, change)
        except RefusedError as error:
            return refusal(str(error))
        return None


def autoscale(conversation: Conversation, change: Any) -> None:
    """Let the autoscaler give a pool another count."""
    request = provider_pb2.InvokeRequest(tok=AUTOSCALE, args=to_struct(change))
    conversation.azure.provider.Invoke(request, conversation.azure.call())


def read(conversation: Conversation, kind: str) -> None:
    """Let the engine read a resource again."""
    made = conversation.made[kind]
    made |= conversation.azure.read(*TYPES.get(kind, (POOL, kind)), made["id"])


def refresh(conversation: Conversation, kind: str) -> None:
    """Let the engine read a resource again, with the inputs that it would need."""
    azure, made, (type_, name) = conversation.azure, conversation.made[kind], TYPES.get(kind, (POOL, kind))
    state = {key: value for key, value in made.items() if key != "__inputs"}
    request = provider_pb2.ReadRequest(
        id=made["id"], urn=azure.urn(type_, name), inputs=to_struct(made["__inputs"]), properties=to_struct(state)
    )
    made["__inputs"] = from_struct(azure.provider.Read(request, azure.call()).inputs)
    read(conversation, kind)


ACTIONS: Final[Mapping[str, Callable[[Conversation, Any], None]]] = {
    "autoscale": autoscale,
    "read": read,
    "refresh": refresh,
    "machines": lambda conversation, change: vars(conversation.azure.machines).update(change),
    "provider": lambda conversation, name: features.tell_provider(conversation.azure.cloud, name),
}
"""By its name in cases, what changes a subscription without a resource."""


def outcome_of_requests(case: Case) -> dict[str, Any]:
    """The differences from the usual, and Azure's refusals: that of the last request, or of each if several were."""
    conversation = Conversation(case.get("subscription", {}), case.get("clusters", 1))
    refusals = conversation.requested(case)
    shown = state_of(conversation)
    usual_one = usual(pool="pool" in conversation.made, cluster="cluster" in conversation.made)
    pools = [kind for kind in conversation.made if kind not in TYPES]
    alike = {
        "far": usual(pool=True, cluster=True)["cluster"],
        **dict.fromkeys(pools, usual(pool=True, cluster=True)["pool"]),
    }
    known = {kind: value for kind, value in alike.items() if kind in shown}
    outcome: dict[str, Any] = differing(shown, {**known, **usual_one})
    if any(refusals[:-1]):
        return {"refusals": refusals, **outcome}
    return {"refused": refusals[-1], **outcome} if refusals[-1] else outcome


def outcome_of_usual(case: Case) -> dict[str, Any]:
    """All of the usual cluster with its pool, and what an import and a preview show of them."""
    conversation = Conversation({})
    conversation.requested(case)
    azure, made = conversation.azure, conversation.made
    request = provider_pb2.CreateRequest(
        urn=azure.urn(CLUSTER, "aks"), properties=to_struct(made["cluster"]["__inputs"]), preview=True
    )
    preview = from_struct(azure.provider.Create(request, azure.call()).properties)
    imported = {kind: azure.imported(*TYPES.get(kind, (POOL, kind)), made[kind]["id"]) for kind in made}
    state = state_of(conversation)
    known = {key: value for key, value in sorted(preview.items()) if value is not UNKNOWN}
    return {**state, "imported": differing(without_made_up(imported), state), "preview": known}


def outcome_of_differences(case: Case) -> dict[str, Any]:
    """The properties whose change replaces a cluster or a pool, all that a change is of, and whether the old one goes
    first. `there` is what differs from the usual one before.
    """
    conversation = Conversation({})
    kind = "cluster" if "cluster" in case else "pool"
    conversation.requested({"pool": {}, **({kind: case["there"]} if "there" in case else {})})
    answer = conversation.azure.diff(*TYPES.get(kind, (POOL, kind)), conversation.made[kind], **case[kind])
    kinds = provider_pb2.PropertyDiff.Kind
    return {
        "changes": provider_pb2.DiffResponse.DiffChanges.Name(answer.changes),
        "diffs": sorted(answer.diffs),
        "detail": {path: kinds.Name(entry.kind) for path, entry in sorted(answer.detailedDiff.items())},
        "replaces": list(answer.replaces),
        "deleted_first": answer.deleteBeforeReplace,
    }


@cache
def usual(*, pool: bool, cluster: bool) -> dict[str, Any]:
    """The usual cluster with its pool, without it, or the group alone."""
    conversation = Conversation({})
    requests: list[tuple[str, Any]] = [("cluster", {})] * cluster + [("pool", {})] * pool
    assert not any(conversation.refusal_of(*request) for request in requests)
    return state_of(conversation)


def state_of(conversation: Conversation) -> dict[str, Any]:
    """Azure's outputs of what was made, the first machine of the pool or else of the system pool, what all is there,
    and access to the cluster, without made-up parts.
    """
    azure, made = conversation.azure, conversation.made
    shown: dict[str, Any] = {
        kind: {key: value for key, value in outputs.items() if key != "__inputs"} for kind, outputs in made.items()
    }
    nodes = list(azure.machines.nodes.values())
    annotations = [json.loads(node["metadata"]["annotations"][MACHINE_ANNOTATION]) for node in nodes]
    for node, annotation in zip(nodes, annotations, strict=True):
        if node in machines(azure, "pool" if "pool" in made else "system"):
            metadata = {key: value for key, value in node["metadata"].items() if key != "annotations"}
            shown["machine"] = {**node, "metadata": metadata, "machine": annotation}
            break
    fabrics = list(dict.fromkeys(annotation["fabric"] for annotation in annotations))
    shown["fabrics"] = [fabrics.index(annotation["fabric"]) for annotation in annotations]
    shown["nodes"] = [name.split("-", 1)[1] for name in azure.machines.nodes]
    shown["drained"] = [name.split("-", 1)[1] for name in azure.machines.drained]
    shown["resources"] = [record.id.rpartition("/providers/")[2] for record in azure.cloud.store.all()]
    shown["feature"] = feature_state(conversation)
    access = azure.cloud.store.folder / "access.json"
    shown["access"] = json.loads(access.read_text()) if access.exists() else None
    shown["kubeconfig"] = {kind: kubeconfig(conversation, kind) for kind in ("User", "Admin")}
    state: dict[str, Any] = without_made_up(shown)
    return state


def feature_state(conversation: Conversation) -> str:
    """The state of the preview feature that pools with InfiniBand need."""
    names = USUAL_INPUTS["registration"]
    answer = conversation.azure.invoke("features:getSubscriptionFeatureRegistration", **names)
    return str(answer["properties"]["state"])


def kubeconfig(conversation: Conversation, kind: str) -> Any:
    """The document that AKS gives a user or an administrator of the cluster, or its refusal."""
    if "cluster" not in conversation.made:
        return None
    place = {"resourceGroupName": conversation.group["name"], "resourceName": conversation.made["cluster"]["name"]}
    try:
        answer = conversation.azure.invoke(f"containerservice:listManagedCluster{kind}Credentials", **place)
    except RefusedError as error:
        return refusal(str(error))
    ((name, value),) = ((each["name"], each["value"]) for each in answer["kubeconfigs"])
    return {"name": name, "value": yaml.safe_load(base64.b64decode(value))}


def without_made_up(value: Any) -> Any:
    """A value without the parts that differ from run to run."""
    text = json.dumps(value, sort_keys=True)
    for pattern, instead in _MADE_UP:
        text = pattern.sub(instead, text)
    return json.loads(text)


def differing(value: Any, from_: Any) -> Any:
    """The change, as `patched` takes it, from one value to another."""
    if not isinstance(value, dict) or not isinstance(from_, dict):
        return value
    changes = {key: differing(item, from_.get(key)) for key, item in value.items() if item != from_.get(key)}
    return changes | {key: GONE for key in from_ if key not in value}


def refusal(text: str) -> str:
    """Code and message of Azure's error; all of another one."""
    code = re.search(r'Status=(\d+) Code="(\w+)"', text)
    message = re.search(r'"message": "(.*?)", "(?:subcode|target)"', text) or re.search(r'Message="(.*)"', text)
    told = f"{code[1]} {code[2]}: {message[1]}" if code and message else text
    return str(without_made_up(told))


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "usual": outcome_of_usual,
    "requests": outcome_of_requests,
    "differences": outcome_of_differences,
}
"""By the first word of a file's name, what gives the outcome of a case."""
