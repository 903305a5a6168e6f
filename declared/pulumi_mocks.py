"""Pulumi mocks: a program runs without engine or network, and what it registered is read back."""

import asyncio
import base64
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import grpc
import pulumi
from google.protobuf import json_format
from pulumi.runtime import mocks
from pulumi.runtime._callbacks import _CallbackServicer
from pulumi.runtime.proto import resource_pb2

SUBSCRIPTION = "00000000-0000-0000-0000-0000000000aa"
UNREADABLE = "(no answer)"
"""Instead of a feature's state: Azure refuses to answer."""
FEATURE_ID = f"/subscriptions/{SUBSCRIPTION}/…/AKSInfinibandSupport"
KUBECONFIG = json.dumps({"users": [{"name": "admin", "user": {"token": "t0ken"}}]})
_SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}


class Refusal(grpc.RpcError):
    """The engine's answer when a provider's function fails."""

    def __init__(self, text: str) -> None:
        self._text = text

    def code(self) -> grpc.StatusCode:
        return grpc.StatusCode.UNKNOWN

    def details(self) -> str:
        return self._text


@dataclass(frozen=True)
class Registration:
    """One resource that a program registered."""

    urn: str
    type: str
    name: str
    request: dict[str, Any]
    """The engine's RegisterResourceRequest: every option, in camelCase."""

    @property
    def inputs(self) -> dict[str, Any]:
        """The inputs, secrets opened."""
        return cast("dict[str, Any]", opened(self.request.get("object", {})))

    def is_secret(self, key: str) -> bool:
        """True if the program marks an input as secret."""
        value = self.request["object"][key]
        return isinstance(value, dict) and _SECRET.items() <= value.items()

    @property
    def dependencies(self) -> set[str]:
        """Names of the resources that it waits for."""
        return {urn.rsplit("::", 1)[1] for urn in self.request.get("dependencies", [])}

    @property
    def parent(self) -> str:
        """Name of its parent."""
        return str(self.request.get("parent", "")).rsplit("::", 1)[-1]

    @property
    def deleted_with(self) -> str:
        """Name of the resource with which it goes."""
        return str(self.request.get("deletedWith", "")).rsplit("::", 1)[-1]


@dataclass
class Deployment:
    """The result of a program."""

    result: Any = None
    """The program's return value, its outputs resolved."""
    registrations: list[Registration] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    """Names of what the program reads instead of making it."""

    def all(self, type_: str) -> list[Registration]:
        return [made for made in self.registrations if made.type == type_]

    def one(self, type_: str) -> Registration:
        (only,) = self.all(type_)
        return only


def opened(value: Any) -> Any:
    """A value as the program gave it: secrets opened, whole numbers whole."""
    if isinstance(value, dict):
        if _SECRET.items() <= value.items():
            return opened(value["value"])
        return {key: opened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [opened(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


class AzureAndKubernetes(mocks.Mocks):
    """Answers as Azure and a cluster would if all goes well, except for what a test overrides."""

    def __init__(
        self,
        outputs: Mapping[str, Mapping[str, Any]],
        feature_states: list[str],
        answers: Mapping[str, Mapping[str, Any] | Refusal] | None = None,
    ) -> None:
        self.outputs = outputs
        self.feature_states = feature_states
        self.answers = answers or {}
        self.calls: list[str] = []

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        # Azure answers with a mapping if it was given a list.
        shape = {"identity": {"type": "UserAssigned"}} if "identity" in args.inputs else {}
        if pulumi.runtime.is_dry_run():
            return None, {**args.inputs, **shape}
        identifier = f"/subscriptions/{SUBSCRIPTION}/{args.typ}/{args.name}"
        state = {"name": args.inputs.get("resourceName", args.name), **args.inputs, **shape, "principalId": "principal"}
        if args.typ == "azure-native:containerservice:AgentPool":
            state["provisioningState"] = "Succeeded"
        if args.typ == "kubernetes:batch/v1:Job":
            state["metadata"] = {**args.inputs["metadata"], "uid": f"uid-of-{args.name}"}
        if args.typ == "pulumi:index:Stash":
            state["output"] = args.inputs["input"]
        return identifier, {**state, **self.outputs.get(args.typ, {})}

    def call(self, args: mocks.MockCallArgs) -> dict[str, Any]:  # type: ignore[override]  # the SDK takes both
        self.calls.append(args.token)
        if (answer := self.answers.get(args.token.rpartition(":")[2])) is not None:
            if isinstance(answer, Refusal):
                raise answer
            return dict(answer)
        if args.token.endswith("listManagedClusterUserCredentials"):
            return {"kubeconfigs": [{"name": "user", "value": base64.b64encode(KUBECONFIG.encode()).decode()}]}
        if args.token.endswith("getSubscriptionFeatureRegistration"):
            state = self.feature_states.pop(0) if len(self.feature_states) > 1 else self.feature_states[0]
            if state == UNREADABLE:
                raise Refusal("Status=403 AuthorizationFailed")
            return {"id": FEATURE_ID, "name": "name", "type": "type", "properties": {"state": state}}
        return {}


class Recorder(mocks.MockMonitor):
    """The mock monitor, which also keeps what options came with each resource."""

    def __init__(self, answers: AzureAndKubernetes, *, hooks: bool = False) -> None:
        super().__init__(answers)
        self.registrations: list[Registration] = []
        self.reads: list[str] = []
        self._hooks: dict[str, str] | None = {} if hooks else None
        """By a hook's name the token of its callback; None if no hook is run."""

    def RegisterResourceHook(self, request: Any) -> Any:  # noqa: N802  the engine's name
        if self._hooks is not None:
            self._hooks[request.name] = request.callback.token
        return super().RegisterResourceHook(request)  # type: ignore[no-untyped-call]

    def _before_create(self, request: Any) -> None:
        """Run a resource's hooks as the engine does: the caller's thread waits, the program's loop runs them."""
        for name in request.hooks.before_create if self._hooks else ():
            asked = resource_pb2.ResourceHookRequest(name=request.name, type=request.type, new_inputs=request.object)
            for servicer in _CallbackServicer._servicers:
                if (hook := servicer._callbacks.get((self._hooks or {})[name])) is not None:
                    running = cast("Coroutine[Any, Any, Any]", hook(asked.SerializeToString()))
                    answer = asyncio.run_coroutine_threadsafe(running, servicer._loop).result()
                    if answer.error:
                        raise Refusal(answer.error)

    def ReadResource(self, request: Any) -> Any:  # noqa: N802  the engine's name
        self.reads.append(request.name)
        return super().ReadResource(request)  # type: ignore[no-untyped-call]

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802  the engine's name
        self._before_create(request)
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != "pulumi:pulumi:Stack":
            plain = json_format.MessageToDict(request)
            self.registrations.append(Registration(response.urn, request.type, request.name, plain))
        return response


class Deploy(Protocol):
    def __call__(
        self,
        program: Callable[[], Any],
        *,
        preview: bool = False,
        outputs: Mapping[str, Mapping[str, Any]] = ...,
        feature_states: list[str] = ...,
        answers: Mapping[str, Mapping[str, Any] | Refusal] = ...,
        hooks: bool = ...,
    ) -> Deployment: ...
