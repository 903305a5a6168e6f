"""Runs a Pulumi program as it stands, with its stack file, against mocks, and keeps its requests to the engine."""

import asyncio
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pulumi
import yaml
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.talk.config_maps import compressed
from google.protobuf import json_format
from pulumi.runtime import mocks, rpc, stack
from pulumi.runtime.config import set_all_config
from pulumi.runtime.settings import SETTINGS, set_root_resource
from pulumi.runtime.sync_await import _sync_await

from declared.pulumi_mocks import AzureAndKubernetes, opened

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: lab
clusters:
  - {name: lab, cluster: {server: "https://lab.example.com:6443"}}
contexts:
  - {name: lab, context: {cluster: lab, user: admin}}
users: [{name: admin, user: {token: t0ken}}]
"""
"""The kubeconfig in the home folder of a user who runs a program for a cluster that is there."""
_STACK = "pulumi:pulumi:Stack"
_REPORT = {"verdict": "pass", "coverage": {"summary": "all"}, "finished": "2026-11-28T09:00:00+00:00"}
_KEPT = {"pulumi:index:Stash": {"output": compressed(json.dumps(_REPORT))}}
"""Every pool has been validated, and the stack has kept the report."""


@dataclass
class Requests:
    """The requests of a program to the engine, in protobuf's JSON form."""

    project: str
    stack: str
    resources: dict[str, dict[str, Any]] = field(default_factory=dict)
    """URN to the resource's RegisterResourceRequest."""
    reads: dict[str, dict[str, Any]] = field(default_factory=dict)
    """URN to the ReadResourceRequest of an object that the program reads and does not own."""
    outputs: dict[str, Any] = field(default_factory=dict)
    """The stack's outputs."""


class _Monitor(mocks.MockMonitor):
    """The SDK's mock monitor; it keeps the requests, and makes URNs as the engine does."""

    def __init__(self, requests: Requests, feature: str) -> None:
        super().__init__(AzureAndKubernetes(_KEPT, [feature]))
        self.requests = requests
        self.transforms: dict[str, list[pulumi.ResourceTransform]] = {}

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """The types of all parents are in it, except the stack's (pulumi/pulumi, sdk/go/common/resource/urn)."""
        parents = parent.split("::")[2] if parent else _STACK
        chain = type_ if parents == _STACK else f"{parents}${type_}"
        return f"urn:pulumi:{self.requests.stack}::{self.requests.project}::{chain}::{name}"

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802  the engine's name
        self._transform(request)
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != _STACK:
            assert response.urn not in self.requests.resources, f"two resources are {response.urn}"
            self.requests.resources[response.urn] = json_format.MessageToDict(request)
        return response

    def _transform(self, request: Any) -> None:
        """Change the inputs as the engine does: by the resource's own transforms, then by those of its parents."""
        own = mocks._resolve_callbacks(request.transforms)
        chain = [*own, *self.transforms.get(request.parent, [])]
        self.transforms[self.make_urn(request.parent, request.type, request.name)] = chain
        for transform in chain:
            asked = pulumi.ResourceTransformArgs(
                custom=request.custom,
                type_=request.type,
                name=request.name,
                props=rpc.deserialize_properties(request.object, keep_unknowns=True),
                opts=pulumi.ResourceOptions(),
            )
            changed = transform(asked)
            if changed is not None:
                request.object.CopyFrom(_sync_await(rpc.serialize_properties(changed.props, {})))

    def ReadResource(self, request: Any) -> Any:  # noqa: N802  the engine's name
        response = super().ReadResource(request)  # type: ignore[no-untyped-call]
        self.requests.reads[response.urn] = json_format.MessageToDict(request)
        return response

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802  the engine's name
        if f"::{_STACK}::" in request.urn:
            self.requests.outputs.update(json_format.MessageToDict(request.outputs))
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


def run(folder: Path, stack_name: str) -> Requests:
    """The requests of the program in a folder to the engine for one of its stacks, as in a first `pulumi up`.

    folder: the one with Pulumi.yaml.
    stack_name: as in Pulumi.<stack>.yaml, from which the configuration comes.

    The program's exceptions come through.
    """
    project = yaml.safe_load((folder / "Pulumi.yaml").read_text())["name"]
    configuration = yaml.safe_load((folder / f"Pulumi.{stack_name}.yaml").read_text())["config"]
    requests = Requests(project, stack_name)
    with _surroundings(folder):
        _run(requests, configuration, lambda: runpy.run_path(str(folder), run_name="__main__"))
    return requests


def requests_of(program: Callable[[], Any], configuration: Mapping[str, Any] = MappingProxyType({})) -> Requests:
    """The requests of a function to the engine, with the configuration of a stack."""
    requests = Requests("aks-infiniband", "dev")
    with _surroundings(Path.cwd()):
        _run(requests, configuration, program)
    return requests


def kubernetes_objects(program: Callable[[], None]) -> list[dict[str, Any]]:
    """The objects that a program declares in a cluster, as documents, in its order."""
    asked = requests_of(program).resources.values()
    return [opened(each["object"]) for each in asked if str(each["type"]).startswith("kubernetes:")]


def _run(requests: Requests, configuration: Mapping[str, Any], program: Callable[[], Any]) -> None:
    # The command line hands objects over as JSON text.
    set_all_config({key: _text(value) for key, value in configuration.items()}, [])
    SETTINGS.rpc_manager.clear()
    SETTINGS.outputs.clear()
    answers = _Monitor(requests, _feature_of(configuration))
    pulumi.runtime.set_mocks(answers.mocks, requests.project, requests.stack, preview=False, monitor=answers)
    # set_mocks has made and closed a stack; the program's outputs need one that is open.
    set_root_resource(None)  # type: ignore[arg-type]  # as before a program

    async def whole() -> None:
        program()

    asyncio.get_event_loop().run_until_complete(stack.run_in_stack(whole))


def _feature_of(configuration: Mapping[str, Any]) -> str:
    """The state of AKSInfinibandSupport that the stack's machines need."""
    named = json.dumps(dict(configuration))
    absent = any(name in named for name, size in SIZES.items() if not size.placement_feature)
    return "NotRegistered" if absent else "Registered"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@contextmanager
def _surroundings(folder: Path) -> Iterator[None]:
    """The project's folder, a home with a kubeconfig, a separate event loop; all put back at the end, and so are the
    names of project and stack.
    """
    before, home, modules = Path.cwd(), os.environ.get("HOME"), set(sys.modules)
    names = SETTINGS.project, SETTINGS.stack
    asyncio.set_event_loop(loop := asyncio.new_event_loop())
    try:
        with tempfile.TemporaryDirectory() as temporary:
            (Path(temporary) / ".kube").mkdir()
            (Path(temporary) / ".kube" / "config").write_text(KUBECONFIG)
            os.environ["HOME"] = temporary
            os.chdir(folder)
            yield
    finally:
        os.chdir(before)
        os.environ.pop("HOME") if home is None else os.environ.update(HOME=home)
        # Two programs may each have a module of the same name in their folders.
        for name in set(sys.modules) - modules:
            if Path(getattr(sys.modules[name], "__file__", None) or "/").parent == folder:
                del sys.modules[name]
        set_all_config({}, [])
        SETTINGS.project, SETTINGS.stack = names
        loop.close()
        asyncio.set_event_loop(asyncio.new_event_loop())
