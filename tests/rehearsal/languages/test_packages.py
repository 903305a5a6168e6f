"""`pulumi package` on the provider: its entry in a program in YAML, and packages in TypeScript, Go and Python."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.provider.host import Provider

import rehearsal.engine.languages
from rehearsal.engine.languages.hosts import generators, host, node_modules
from rehearsal.run.loopback import reaching_loopback
from rehearsal.tools.on_demand import found_go, run
from rehearsal.tools.paths import BIN, PROJECT
from tests.rehearsal.languages.conftest import EXAMPLES, built

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]  # the first run builds the generators

NOWHERE = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
"""A request to the outside gets no answer."""
HERE = Path(rehearsal.engine.languages.__path__[0])
GO_MODULE = "example.com/pulumi-aks-infiniband/sdk/go/aks-infiniband"
"""The path under which the package's files import each other."""
INPUTS_IN_PYTHON = """
import inspect, json, pulumi_aks_infiniband as package
found = {}
for name in dir(package):
    if name.endswith("Args") and inspect.isclass(getattr(package, name[:-4], None)):
        signature = inspect.signature(getattr(package, name).__init__)
        taken = [each for each in signature.parameters.values() if each.name not in ("__self__", "self")]
        required = [each.name for each in taken if each.default is inspect.Parameter.empty]
        found[name[:-4]] = [each.name for each in taken], required
print(json.dumps(found))
"""
PROGRAM = """
import * as rdma from "@pulumi/aks-infiniband";

const pool = { name: "hbv4", vmSize: "Standard_HB176rs_v4", count: 2, mode: rdma.Mode.RDMA_SHARED };
const location = new rdma.FeatureRegistration("feature", { location: "westeurope" });
const machines = new rdma.InfinibandNodePool("machines", { pool, resourceGroupName: "g", clusterName: "c" });
export const selector = machines.nodeSelector;
"""


@pytest.fixture
def package(tmp_path: Path) -> Callable[..., str]:
    """Runs `pulumi package` with the provider as a program, in a folder, with other programs first on PATH."""
    provider = tmp_path / "bin" / "pulumi-resource-aks-infiniband"
    provider.parent.mkdir()
    provider.write_text(f'#!/bin/sh\nexec {sys.executable} {PROJECT / "provider" / "__main__.py"} "$@"\n')
    provider.chmod(0o755)

    def run(verb: str, *flags: str, folder: Path, programs: Path) -> str:
        theirs = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
        environment = reaching_loopback(theirs) | NOWHERE
        environment |= {"PATH": os.pathsep.join([str(programs), str(BIN), os.environ["PATH"]])}
        environment |= {"PULUMI_HOME": str(tmp_path / "home"), "PULUMI_SKIP_UPDATE_CHECK": "1"}
        environment |= {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true"}
        command = [str(BIN / "pulumi"), "package", verb, str(provider), *flags]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=180
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def generated(tmp_path: Path, package: Callable[..., str]) -> Callable[[str], Path]:
    """Generates the package of a language, and gives its folder."""

    def generate(language: str) -> Path:
        flags = ("--language", language, "--local", "--out", "sdks")
        package("gen-sdk", *flags, folder=tmp_path, programs=built(generators))
        return tmp_path / "sdks" / language

    return generate


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Provider().schema or "")
    return found


def components(schema: dict[str, Any]) -> Iterator[tuple[str, set[str], set[str]]]:
    """Name, inputs, and required inputs of each component."""
    for token, about in schema["resources"].items():
        yield token.rpartition(":")[2], set(about["inputProperties"]), set(about.get("requiredInputs", []))


def values(schema: dict[str, Any]) -> dict[str, set[str]]:
    """The values of each enumeration, by its name."""
    found = {token.rpartition(":")[2]: about.get("enum", []) for token, about in schema["types"].items()}
    return {name: {each["value"] for each in allowed} for name, allowed in found.items() if allowed}


def test_a_program_in_yaml_gets_the_package_into_its_project(tmp_path: Path, package: Callable[..., str]) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: ours\nruntime: yaml\n")
    package("add", folder=tmp_path, programs=built(lambda: host("yaml")))
    packages = yaml.safe_load((tmp_path / "Pulumi.yaml").read_text())["packages"]
    assert packages == {"aks-infiniband": f"aks-infiniband@{Provider().version}"}


def test_get_schema_prints_the_schema_of_the_snapshot(tmp_path: Path, package: Callable[..., str]) -> None:
    printed = json.loads(package("get-schema", folder=tmp_path, programs=BIN))
    snapshot = json.loads((PROJECT / "tests" / "unit" / "provider" / "schema.json").read_text())
    for part in ("resources", "types"):
        assert printed[part].keys() == snapshot[part].keys()


def test_typescript_has_a_class_for_each_component_its_required_inputs_and_its_enumerations(
    generated: Callable[[str], Path], schema: dict[str, Any]
) -> None:
    folder = generated("nodejs")
    for name, inputs, required in components(schema):
        text = (folder / f"{name[0].lower()}{name[1:]}.ts").read_text()
        assert f"export class {name} extends pulumi.ComponentResource" in text
        arguments = text.partition(f"export interface {name}Args {{")[2]
        fields = re.findall(r"^    (\w+)(\??): ", arguments, re.MULTILINE)
        assert {field for field, _ in fields} == inputs, name
        assert {field for field, optional in fields if not optional} == required, name
    text = (folder / "types" / "enums" / "index.ts").read_text()
    found = dict(re.findall(r"^export const (\w+) = \{\n(.*?)^\} as const;", text, re.MULTILINE | re.DOTALL))
    assert {name: set(re.findall(r'"(.+)",', body)) for name, body in found.items()} == values(schema)


def test_a_program_that_uses_the_typescript_package_passes_the_strict_compiler(
    tmp_path: Path, generated: Callable[[str], Path]
) -> None:
    program = tmp_path / "program"
    shutil.copytree(EXAMPLES / "typescript", program, ignore=shutil.ignore_patterns("node_modules"))
    modules = built(lambda: node_modules(program))
    (program / "node_modules").symlink_to(modules)
    sources = program / "package"
    shutil.copytree(generated("nodejs"), sources)
    (program / "index.ts").write_text(PROGRAM)
    settings = json.loads((program / "tsconfig.json").read_text())
    settings["compilerOptions"] |= {"noEmit": True, "paths": {"@pulumi/aks-infiniband": ["./package"]}}
    (program / "tsconfig.json").write_text(json.dumps(settings))
    compiler = ["node", str(modules / "typescript" / "bin" / "tsc"), "--project", str(program)]
    compiled = subprocess.run(compiler, capture_output=True, text=True, check=False, timeout=180)
    assert compiled.returncode == 0, compiled.stdout
    (program / "index.ts").write_text(PROGRAM.replace('clusterName: "c"', ""))
    refused = subprocess.run(compiler, capture_output=True, text=True, check=False, timeout=180)
    assert "Property 'clusterName' is missing" in refused.stdout


def test_go_has_a_constructor_for_each_component_its_required_inputs_and_its_enumerations(
    generated: Callable[[str], Path], schema: dict[str, Any]
) -> None:
    folder = generated("go") / "aksinfiniband"
    for name, inputs, required in components(schema):
        text = (folder / f"{name[0].lower()}{name[1:]}.go").read_text()
        assert f"func New{name}(ctx *pulumi.Context," in text
        begin = f"\ntype {name[0].lower()}{name[1:]}Args struct {{\n"
        arguments = text.partition(begin)[2].partition("\n}")[0]
        fields = re.findall(r'^\t\w+ +(\S+) +`pulumi:"(\w+)"`', arguments, re.MULTILINE)
        assert {field for _, field in fields} == inputs, name
        optional = {field for kind, field in fields if kind.startswith(("*", "[]", "map["))}
        assert inputs - optional <= required, name
    constants = re.findall(r'= (\w+)\("(.+)"\)', (folder / "pulumiEnums.go").read_text())
    found = {name: {value for each, value in constants if each == name} for name, _ in constants}
    assert found == values(schema)


def test_the_package_in_go_compiles(tmp_path: Path, generated: Callable[[str], Path]) -> None:
    folder = generated("go") / "aksinfiniband"
    module = (HERE / "generators" / "go.mod").read_text()
    (folder / "go.mod").write_text(re.sub(r"(?m)^module .*", f"module {GO_MODULE}", module))
    shutil.copy(HERE / "generators" / "go.sum", folder)
    go = built(lambda: found_go(tmp_path))
    environment = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw -mod=mod"}
    built(lambda: Path(run([str(go), "mod", "download"], cwd=folder, more=environment)))
    command, more = [str(go), "build", "./..."], os.environ | environment
    done = subprocess.run(command, cwd=folder, env=more, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr


def test_the_package_in_python_has_a_class_for_each_component_with_its_inputs(
    tmp_path: Path, generated: Callable[[str], Path], schema: dict[str, Any]
) -> None:
    flags = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(tmp_path / "installed")]
    subprocess.run([sys.executable, "-m", "pip", "install", *flags, str(generated("python"))], check=True)
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "installed")}
    printed = subprocess.check_output([sys.executable, "-c", INPUTS_IN_PYTHON], env=environment, text=True)
    found = {name: (set(inputs), set(required)) for name, (inputs, required) in json.loads(printed).items()}
    for name, inputs, required in components(schema):
        assert found[name] == (set(map(snake, inputs)), set(map(snake, required))), name


def snake(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower()
