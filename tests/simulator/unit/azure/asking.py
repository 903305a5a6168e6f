"""An engine's side of the conversation with the simulated Azure, without an engine, a network or a cluster."""

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import grpc
from pulumi.runtime.proto import provider_pb2

from rehearsal.azure.clock import Clock
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.cluster_api import Blocked, ClusterApi
from rehearsal.azure.operations import Operations
from rehearsal.azure.provider import AzureNative
from rehearsal.azure.resources import KINDS
from rehearsal.azure.store import Store
from rehearsal.azure.subscription import Subscription, load
from rehearsal.azure.wire import Properties, from_struct, to_struct

FAST = 1e9
SUBSCRIPTION = load()
FOUR_MACHINES: Final = {
    **SUBSCRIPTION.series,
    "ND_H100_v5": SUBSCRIPTION.series["ND_H100_v5"].model_copy(update={"vcpus": 4 * 96}),
}
"""The quotas of a subscription with room for four machines with H100."""


LOCAL: Final = """\
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: admin}}]
users: [{name: admin, user: {client-certificate-data: x}}]
current-context: c
"""
"""The kubeconfig of a cluster's local account."""


class RefusedError(Exception):
    """The provider ended a call with an error."""


@dataclass
class Context:
    """The provider's view of a call."""

    caller: str = "engine"
    details: list[Any] = field(default_factory=list)

    def peer(self) -> str:
        return self.caller

    def abort(self, code: grpc.StatusCode, reason: str) -> NoReturn:
        raise RefusedError(" ".join(reason.split()))  # on one line, for a search for words in it

    def set_trailing_metadata(self, metadata: Any) -> None:
        self.details.append(metadata)


class Machines:
    """A control plane that only remembers its nodes."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Any]] = {}
        self.drained: list[str] = []
        self.cordoned: list[str] = []
        self.told: list[str] = []
        self.held: set[str] = set()
        """Nodes with a pod that a disruption budget holds; if patient, the drain waits for it."""
        self.patient = False
        self.broken = False

    def join(self, document: Mapping[str, Any]) -> None:
        if self.broken:
            raise ConnectionError("connection refused")
        self.nodes.setdefault(document["metadata"]["name"], dict(document))

    def relabel(self, name: str, labels: Mapping[str, str | None], taints: list[dict[str, str]]) -> None:
        metadata = self.nodes[name]["metadata"]
        merged = {**metadata["labels"], **labels}
        metadata["labels"] = {key: value for key, value in merged.items() if value is not None}
        self.nodes[name]["spec"]["taints"] = taints

    def annotate(self, name: str, annotations: Mapping[str, str]) -> None:
        self.nodes[name]["metadata"]["annotations"] |= annotations

    def leave(self, names: Iterable[str], *, pause: float) -> None:
        for name in names:
            self.drained.append(name)
            self.nodes.pop(name, None)

    def go(self, names: Iterable[str]) -> None:
        for name in names:
            self.nodes.pop(name, None)

    def cordon(self, name: str) -> None:
        self.cordoned.append(name)

    def uncordon(self, name: str) -> None:
        self.cordoned.remove(name)

    def tell(self, name: str, reason: str, message: str, kind: str = "Normal") -> None:
        self.told.append(f"{reason}: {message}")

    def drain(self, name: str, *, patience: float, pause: float, ended: Callable[[], bool]) -> Blocked | None:
        while name in self.held:
            if ended():
                return None
            if not self.patient:
                return Blocked("job-0", "jobs/all")
            time.sleep(0.01)
        self.drained.append(name)
        return None

    def remove(self, name: str) -> None:
        self.nodes.pop(name, None)
        with contextlib.suppress(ValueError):
            self.cordoned.remove(name)

    def version(self) -> str:
        return "v1.36.3"

    def kubeconfig(self) -> str:
        return LOCAL

    def get(self, path: str) -> dict[str, Any]:
        return {"items": [], "groups": [], "resources": []}

    def request(self, method: str, path: str, body: Any = None) -> Any:
        self.nodes.clear()
        return type("Answer", (), {"status_code": 404})()


class Azure:
    """The simulated Azure, called as the engine calls it."""

    def __init__(self, folder: Path, subscription: Subscription, speed: float = FAST, clusters: int = 1) -> None:
        self.machines = Machines()
        clock = Clock(speed)
        self.cloud = Cloud(
            subscription=subscription,
            store=Store(folder / "state.json", clock.changed),
            clock=clock,
            control_planes=lambda: [cast("ClusterApi", self.machines)] * clusters,
        )
        self.operations = Operations(self.cloud, KINDS)
        self.provider = AzureNative(self.operations)
        self.context = Context()
        self.provider.Configure(
            provider_pb2.ConfigureRequest(args=to_struct({"location": "southcentralus"})), self.call()
        )

    def call(self) -> grpc.ServicerContext:
        return cast("grpc.ServicerContext", self.context)

    def urn(self, kind: str, name: str) -> str:
        return f"urn:pulumi:dev::p::azure-native:{kind}::{name}"

    def check(
        self, kind: str, name: str, news: Properties, olds: Properties | None = None
    ) -> tuple[Properties, list[str]]:
        request = provider_pb2.CheckRequest(urn=self.urn(kind, name), news=to_struct(news), olds=to_struct(olds or {}))
        response = self.provider.Check(request, self.call())
        return from_struct(response.inputs), [failure.reason for failure in response.failures]

    def create(self, kind: str, name: str, **news: Any) -> Properties:
        """Check and create; the outputs, with the inputs under `__inputs`."""
        inputs, failures = self.check(kind, name, news)
        if failures:
            raise RefusedError("; ".join(failures))
        request = provider_pb2.CreateRequest(urn=self.urn(kind, name), properties=to_struct(inputs))
        response = self.provider.Create(request, self.call())
        return {**from_struct(response.properties), "id": response.id, "__inputs": inputs}

    def update(self, kind: str, name: str, old: Properties, **news: Any) -> Properties:
        """Check and update, with these inputs changed."""
        wanted = {**old["__inputs"], **news}
        inputs, failures = self.check(
            kind, name, {k: v for k, v in wanted.items() if v is not None}, olds=old["__inputs"]
        )
        if failures:
            raise RefusedError("; ".join(failures))
        request = provider_pb2.UpdateRequest(
            id=old["id"], urn=self.urn(kind, name), news=to_struct(inputs), old_inputs=to_struct(old["__inputs"])
        )
        response = self.provider.Update(request, self.call())
        return {**from_struct(response.properties), "id": old["id"], "__inputs": inputs}

    def diff(self, kind: str, name: str, old: Properties, **news: Any) -> Any:
        inputs, _ = self.check(kind, name, {**old["__inputs"], **news}, olds=old["__inputs"])
        request = provider_pb2.DiffRequest(
            id=old["id"], urn=self.urn(kind, name), news=to_struct(inputs), old_inputs=to_struct(old["__inputs"])
        )
        return self.provider.Diff(request, self.call())

    def delete(self, kind: str, name: str, old: Properties) -> None:
        self.provider.Delete(provider_pb2.DeleteRequest(id=old["id"], urn=self.urn(kind, name)), self.call())

    def read(self, kind: str, name: str, resource: str) -> Properties:
        response = self.provider.Read(provider_pb2.ReadRequest(id=resource, urn=self.urn(kind, name)), self.call())
        return from_struct(response.properties)

    def imported(self, kind: str, name: str, resource: str) -> Properties:
        """The inputs that `pulumi import` gets."""
        response = self.provider.Read(provider_pb2.ReadRequest(id=resource, urn=self.urn(kind, name)), self.call())
        return from_struct(response.inputs)

    def invoke(self, function: str, **arguments: Any) -> Properties:
        request = provider_pb2.InvokeRequest(tok=f"azure-native:{function}", args=to_struct(arguments))
        return from_struct(getattr(self.provider.Invoke(request, self.call()), "return"))


def cluster_inputs(group: Properties, **changes: Any) -> Properties:
    """A cluster that Azure takes."""
    return {
        "resourceGroupName": group["name"],
        "dnsPrefix": "aks",
        "kubernetesVersion": "1.35",
        "identity": {"type": "SystemAssigned"},
        "networkProfile": {"networkPlugin": "azure", "networkPluginMode": "overlay"},
        "agentPoolProfiles": [{"name": "system", "mode": "System", "vmSize": "Standard_D8s_v5", "count": 1}],
        **changes,
    }


FEATURE: Final = "Microsoft.ContainerService/AKSInfinibandSupport"


def registration(**changes: Any) -> Properties:
    """A template's resource that registers the feature."""
    return {
        "type": "Microsoft.Features/featureProviders/subscriptionFeatureRegistrations",
        "apiVersion": "2021-07-01",
        "name": FEATURE,
        "properties": {},
        **changes,
    }


def deployment_inputs(*deployed: Properties, **changes: Any) -> Properties:
    """A deployment, at subscription scope, that Azure takes; with nothing to deploy given, of the feature."""
    template = {
        "$schema": "https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": list(deployed) or [registration()],
    }
    return {"properties": {"mode": "Incremental", "template": template, **changes}}


def pool_inputs(cluster: Properties, **changes: Any) -> Properties:
    """An agent pool that Azure takes."""
    return {
        "resourceGroupName": cluster["__inputs"]["resourceGroupName"],
        "resourceName": cluster["name"],
        "vmSize": "Standard_ND96isr_H100_v5",
        "count": 2,
        "gpuProfile": {"driver": "None"},
        **changes,
    }


MakeAzure = Callable[..., Azure]
"""Makes a simulated Azure with parts of the subscription changed; on one folder a test."""
