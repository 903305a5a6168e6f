"""The real engine, a real API server with kwok, and the simulated Azure between them."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import Node

from rehearsal.azure.plugin import make_kubelogin, make_plugin_folder
from rehearsal.azure.subscription import DEFAULT_FILE, SUBSCRIPTION_VARIABLE
from rehearsal.control_plane import ENVIRONMENT_VARIABLE, WITH_KWOK, ControlPlane, RunFolder
from rehearsal.engine.pulumi import Engine
from rehearsal.tools.paths import BIN, PLUGINS
from tests.rehearsal.engine_runs import Outcome, run

PROGRAM = Path(__file__).with_name("program")
SPEED = 200.0


@dataclass(frozen=True)
class Stack:
    """The program's stack in a data centre."""

    engine: Engine
    run_folder: RunFolder
    salt: str

    def run(self, command: str, **settings: Any) -> Outcome:
        config = {f"azure-program:{key}": value for key, value in settings.items()}
        document = {
            "encryptionsalt": self.salt,
            "config": {"azure-native:location": "southcentralus", **config},
        }
        self.engine.stack_file.write_text(yaml.safe_dump(document))
        return run(self.engine, command)

    def nodes(self) -> dict[str, Node]:
        kubeconfig = KubeConfig.from_file(str(self.run_folder.kubeconfig))
        client = Client(config=kubeconfig, trust_env=False)
        return {str(node.metadata.name): node for node in client.list(Node) if node.metadata}

    def pools(self) -> list[str]:
        """The pool of every machine."""
        return sorted(name.split("-")[1] for name in self.nodes())

    def holds(self) -> list[str]:
        """The types of what the simulated subscription holds."""
        state = json.loads((self.run_folder.azure / "state.json").read_text())
        return [resource["pulumi_type"] for resource in state["resources"]]


@pytest.fixture
def subscription() -> dict[str, Any]:
    """What of the subscription a test changes, by its key in the file."""
    return {}


@pytest.fixture
def stack(tmp_path: Path, subscription: dict[str, Any]) -> Iterator[Stack]:
    run_folder = RunFolder.at(tmp_path / "run")
    file = tmp_path / "subscription.yaml"
    file.write_text(yaml.safe_dump({**yaml.safe_load(DEFAULT_FILE.read_text()), **subscription}))
    parts = [*WITH_KWOK, "azure"]
    environment = {SUBSCRIPTION_VARIABLE: str(file)}
    with ControlPlane.start(run_folder.root, speed=SPEED, parts=parts, environment=environment):
        engine = Engine(
            project=PROGRAM,
            folder=run_folder.pulumi,
            stack="test",
            bin_folders=(Path(sys.executable).parent, BIN, make_kubelogin(run_folder.pulumi / "bin")),
            environment={ENVIRONMENT_VARIABLE: str(run_folder.root)},
            log=run_folder.log("pulumi"),
        )
        salt = engine.prepare(plugins=PLUGINS)
        make_plugin_folder(engine.plugins)
        yield Stack(engine, run_folder, salt)
