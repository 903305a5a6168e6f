"""A real control plane with machines and operators, and the charts installed by the real engine."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rehearsal.control_plane import WITH_KWOK, ControlPlane
from rehearsal.engine.pulumi import Engine
from rehearsal.session import pulumi
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import engine_on
from tests.rehearsal.simulated_nodes import gpu_and_system_nodes
from tests.rehearsal.waiting import eventually

SPEED = 60.0
PROGRAM = Path(__file__).with_name("program")
CHARTS = PROJECT / "rehearsal" / "charts"
KUBECTL = Path(sys.executable).with_name("kubectl")
VALUES: dict[str, dict[str, Any]] = {
    "network-operator": {
        "nfd": {"deployNodeFeatureRules": False},
        "imagePullSecrets": ["mirror"],
        "operator": {"repository": "mirror.invalid/nvidia"},
        "node-feature-discovery": {
            "image": {"repository": "mirror.invalid/nfd"},
            "imagePullSecrets": [{"name": "mirror"}],
        },
    },
    "gpu-operator": {
        "nfd": {"enabled": False},
        "driver": {"rdma": {"enabled": True}},
        "toolkit": {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
    },
}


@dataclass(frozen=True)
class Installed:
    """The cluster under test, and the engine that installs charts in it."""

    control_plane: ControlPlane
    folder: Path

    def kubectl(self, *arguments: str, given: Any = None, fails: bool = False) -> str:
        """The output of kubectl; documents go in as `given`. With `fails`, what it says went wrong."""
        done = subprocess.run(
            [str(KUBECTL), *arguments],
            input=None if given is None else json.dumps(given),
            env={**os.environ, "KUBECONFIG": str(self.control_plane.kubeconfig)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr or done.stdout
        return done.stderr if fails else done.stdout

    def apply(self, *documents: dict[str, Any], fails: bool = False) -> str:
        """Server-side apply; the server alone judges, as with the engine's provider."""
        arguments = ("--server-side", "--validate=false", "--field-manager=test", "--force-conflicts", "-f", "-")
        return self.kubectl(
            "apply", *arguments, given={"apiVersion": "v1", "kind": "List", "items": documents}, fails=fails
        )

    @contextmanager
    def cordons(self) -> Iterator[Callable[[], list[set[str]]]]:
        """A function that lists, from here on, the nodes that were cordoned together, from one change of a node to the
        next.
        """
        columns = '{.metadata.name} {.spec.unschedulable}{"\\n"}'
        command = [str(KUBECTL), "get", "nodes", "--watch", f"--output=jsonpath={columns}"]
        environment = {**os.environ, "KUBECONFIG": str(self.control_plane.kubeconfig)}
        log = self.folder / "cordons"

        def told() -> list[set[str]]:
            seen = [set[str]()]
            for line in log.read_text().splitlines():
                name, _, unschedulable = line.partition(" ")
                seen.append(seen[-1] | {name} if unschedulable else seen[-1] - {name})
            return seen

        with log.open("w") as output, subprocess.Popen(command, env=environment, stdout=output) as watch:
            try:
                self.eventually(lambda: len(told()) > len(self.names("nodes")))
                yield told
            finally:
                watch.kill()

    def get(self, *arguments: str) -> Any:
        """Objects as documents; a list of them if the arguments name no single one."""
        found = json.loads(self.kubectl("get", "-o", "json", "--ignore-not-found", *arguments) or "null")
        return found["items"] if found and found["kind"].endswith("List") else found

    def names(self, *arguments: str) -> set[str]:
        """Names of objects."""
        return {item["metadata"]["name"] for item in self.get(*arguments) or ()}

    def eventually(self, question: Callable[[], Any], *, seconds: float = 120) -> Any:
        """The first true answer to a question about the cluster."""
        return eventually(question, seconds=seconds, check=self.control_plane.check)

    def engine(self, stack: str, releases: dict[str, dict[str, Any]], *, repository: str = str(CHARTS)) -> Engine:
        """The engine on a stack with these releases and their values; a release is named "chart" or "name=chart".

        repository: folder of the charts, or address of a chart repository (https) or registry (oci).
        """
        given = self.folder / f"{stack}.json"
        charts = {
            name.partition("=")[0]: {
                "path": name if repository.startswith("https:") else f"{repository}/{name.rpartition('=')[2]}",
                "repository": repository if repository.startswith("https:") else None,
                "values": values,
            }
            for name, values in releases.items()
        }
        given.write_text(json.dumps({"kubeconfig": self.control_plane.kubeconfig.read_text(), "releases": charts}))
        return engine_on(
            PROGRAM,
            folder=self.folder / stack,
            stack=stack,
            environment=self.control_plane.environment,
            config={"operators:given": str(given)},
        )

    def pulumi(self, engine: Engine, *command: str) -> tuple[bool, str]:
        """True if a command of the engine succeeded, and its output."""
        succeeded = pulumi(engine, lambda _: self.control_plane.check(), *command)
        return succeeded, engine.log.read_text()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("operators")
    parts = (*WITH_KWOK, "machines", "operators")
    with ControlPlane.start(folder / "run", speed=SPEED, parts=parts) as control_plane:
        cluster = Installed(control_plane, folder)
        for node in gpu_and_system_nodes():
            cluster.kubectl("create", "-f", "-", given=node)
        succeeded, output = cluster.pulumi(cluster.engine("charts", VALUES), "up", "--yes", "--skip-preview")
        assert succeeded, output
        yield cluster
