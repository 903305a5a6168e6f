"""A deployment as files: the engine's state, the simulated subscription, the cluster's objects; taken and put back."""

import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml
from lightkube import Client, KubeConfig

from rehearsal.control_plane import WITH_KWOK, ControlPlane, RunFolder
from rehearsal.control_plane.parts import SIMULATORS, Part, table
from rehearsal.control_plane.processes import RunningPart
from rehearsal.engine.pulumi import Engine
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.upgrade.etcd import Etcd, Stored

STACK: Final = "dev"
SPEED: Final = 120.0
"""When it was recorded, and in the test: how long the program waits depends on it, and stands in recorded inputs."""
FOLDER: Final = Path(__file__).parent / "recorded"
_ENGINE, _AZURE, _OBJECTS = FOLDER / "engine.json", FOLDER / "azure.json", FOLDER / "objects.jsonl"
_OF_ONE_RUN: Final = (
    "/registry/events/",
    "/registry/leases/",
    "/registry/masterleases/",
    "/registry/peerserverleases/",
)
"""Objects that every control plane makes again."""
_ROOT_CA: Final = "/kube-root-ca.crt"
_SECRET_KEY: Final = "4dabf18193072939515e22adb298388d"
"""The engine's mark of a secret."""
_KUBECONFIG: Final = "<kubeconfig>"
"""In place of the cluster's kubeconfig, the one secret of the state: each run has its own."""
_PROJECT: Final = "<project>"
"""In place of the project's folder, which is in the stand-in charts' paths."""
_RUN: Final = "<run>"
"""In place of the run's folder, which a pod's log may name."""
_SOURCE: Final = "# <source>\n"
"""In place of every Python module: an older release had another text."""
_MANAGER: Final = "pulumi-kubernetes"
"""Prefix of the names under which the provider owns fields for the program."""
_READY_SECONDS: Final = 180.0


def take(run: RunFolder, engine: Engine, *, given: frozenset[str]) -> None:
    """Write down a deployment that is up. given: keys that were in etcd before it."""
    exported = json.loads(command(engine, "stack", "export", "--show-secrets"))
    kubeconfig = run.kubeconfig.read_text()

    FOLDER.mkdir(exist_ok=True)
    _write(_ENGINE, json.dumps(_sourceless(_trimmed(exported, kubeconfig)), indent=1) + "\n", run)
    _write(_AZURE, (run.azure / "state.json").read_text() + "\n", run)
    kept = [entry for entry in Etcd(run).everything() if entry.key not in given and not _is_of_one_run(entry.key)]
    lines = [
        json.dumps({"key": entry.key, "object": _owned(document)}) + "\n"
        for entry, document in _documents(sorted(kept, key=lambda entry: (entry.created, entry.key)), run)
    ]
    _write(_OBJECTS, "".join(lines), run)


@contextmanager
def put_back(run: RunFolder) -> Iterator[Callable[[], None]]:
    """The recorded data centre, running, in a separate folder; gives a check that raises when a part has ended."""
    with ControlPlane.start(run.root, speed=SPEED, parts=WITH_KWOK) as control_plane:
        (run.azure / "state.json").write_text(_read(_AZURE))
        etcd = Etcd(run)
        there = {entry.key for entry in etcd.everything()}
        objects = [json.loads(line) for line in _read(_OBJECTS).splitlines()]
        etcd.put((entry["key"], entry["object"]) for entry in objects if entry["key"] not in there)
        ports = run.read_run_json()["ports"]
        parts = table(run, ports=ports, speed=SPEED, names=(*WITH_KWOK, *SIMULATORS))
        simulators = [_started(part, run) for part in parts if part.name in SIMULATORS]
        try:
            yield control_plane.check
        finally:
            for simulator in simulators:
                simulator.process.terminate()
                simulator.process.wait()


def put_state_back(engine: Engine, run: RunFolder) -> None:
    """Let the engine's stack, a new one, be the recorded one."""
    kubeconfig = run.kubeconfig.read_text()

    state = _exchanged(json.loads(_read(_ENGINE)), _KUBECONFIG, kubeconfig)
    salt = yaml.safe_load(engine.stack_file.read_text())["encryptionsalt"]
    state["deployment"]["secrets_providers"] = {"type": "passphrase", "state": {"salt": salt}}
    file = run.pulumi / "recorded.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps(state))
    command(engine, "stack", "import", "--file", str(file))
    file.unlink()


def command(engine: Engine, *words: str) -> str:
    """The output of an engine's command."""
    line = ["pulumi", *words, "--stack", engine.stack, "--non-interactive"]
    done = subprocess.run(line, cwd=engine.project, env=engine.environ(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _trimmed(exported: Any, kubeconfig: str) -> Any:
    """An exported state without the parts of this run, and without those that every update finds out again.

    That is the outputs of components and of the stack, and what was read of objects of others: half of it all, because
    each of them has the validation's report.
    """
    state = _exchanged(exported, kubeconfig, _KUBECONFIG)
    del state["deployment"]["secrets_providers"]
    for resource in state["deployment"]["resources"]:
        found_anew = () if resource["custom"] and not resource.get("external") else ("outputs",)
        for key in ("sourcePosition", "stackTrace", *found_anew):
            resource.pop(key, None)
    return state


def _exchanged(value: Any, old: str, new: str) -> Any:
    """A state in which one secret takes the place of another."""
    if isinstance(value, dict):
        if _SECRET_KEY in value and value.get("plaintext") == json.dumps(old):
            return {**value, "plaintext": json.dumps(new)}
        return {key: _exchanged(item, old, new) for key, item in value.items()}
    return [_exchanged(item, old, new) for item in value] if isinstance(value, list) else value


def _started(part: Part, run: RunFolder) -> RunningPart:
    running = RunningPart.start(part, run)
    deadline = time.monotonic() + _READY_SECONDS
    while not run.ready_file(part.name).exists():
        assert running.process.poll() is None, f"{part.name} has ended.{running.tail()}"
        assert time.monotonic() < deadline, f"{part.name} is not ready.{running.tail()}"
        time.sleep(0.1)
    return running


def _is_of_one_run(key: str) -> bool:
    return key.startswith(_OF_ONE_RUN) or key.endswith(_ROOT_CA)


def _documents(entries: Iterable[Stored], run: RunFolder) -> Iterator[tuple[Stored, Any]]:
    """Each object as JSON: one that is stored in protobuf is read from the API server."""
    config = KubeConfig.from_file(str(run.kubeconfig))
    http = Client(config=config, trust_env=False)._client._client
    found: dict[str, dict[str, tuple[str, bool]]] = {}
    for entry in entries:
        if entry.is_json:
            yield entry, _sourceless(json.loads(entry.value))
            continue
        version, kind = entry.kind
        group = f"/api/{version}" if version == "v1" else f"/apis/{version}"
        if group not in found:
            resources = http.get(group).raise_for_status().json()["resources"]
            found[group] = {
                resource["kind"]: (resource["name"], resource["namespaced"])
                for resource in resources
                if "/" not in resource["name"]
            }
        if kind not in found[group]:
            continue  # an allocator's notes, which the API server makes from the objects
        plural, is_namespaced = found[group][kind]
        *_, namespace, name = entry.key.split("/")
        within = f"{group}/namespaces/{namespace}" if is_namespaced else group
        yield entry, _sourceless(http.get(f"{within}/{plural}/{name}").raise_for_status().json())


def _owned(document: Any) -> Any:
    """An object whose list of managers holds the program's entries alone."""
    metadata = document["metadata"]
    managers = [entry for entry in metadata.pop("managedFields", []) if entry["manager"].startswith(_MANAGER)]
    return {**document, "metadata": {**metadata, **({"managedFields": managers} if managers else {})}}


def _sourceless(value: Any) -> Any:
    """A document in which Python modules are without text."""
    if isinstance(value, dict):
        return {
            key: _SOURCE if key.endswith(".py") and isinstance(item, str) else _sourceless(item)
            for key, item in value.items()
        }
    return [_sourceless(item) for item in value] if isinstance(value, list) else value


def _write(file: Path, text: str, run: RunFolder) -> None:
    """Write a file that holds neither this machine's paths nor a key."""
    plain = text.replace(str(PROJECT), _PROJECT).replace(str(run.root), _RUN)
    for line in run.kubeconfig.read_text().splitlines():
        assert "-data:" not in line or line.split()[-1] not in plain, f"{file.name} would hold the kubeconfig's {line}"
    for folder in (Path.home(), run.root.parent):
        assert f"{folder}/" not in plain, f"{file.name} would hold {folder}"
    file.write_text(plain)


def _read(file: Path) -> str:
    return file.read_text().replace(_PROJECT, str(PROJECT))
