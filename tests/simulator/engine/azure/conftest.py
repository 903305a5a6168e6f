"""The real engine, a real API server with kwok, and the simulated Azure between them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import Node

from rehearsal.azure.subscription import DEFAULT_FILE
from rehearsal.control_plane import RunFolder
from rehearsal.engine.pulumi import Engine
from tests.rehearsal.engine_runs import Outcome, run
from tests.rehearsal.simulated_azure import DataCentre, write_stack_file

PROGRAM = Path(__file__).with_name("program")


@dataclass(frozen=True)
class Stack:
    """The program's stack in a data centre."""

    engine: Engine
    run_folder: RunFolder

    def run(self, command: str, **settings: Any) -> Outcome:
        write_stack_file(self.engine, "azure-program", settings)
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


@pytest.fixture(scope="module")
def data_centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataCentre]:
    with DataCentre.running(tmp_path_factory.mktemp("azure") / "run", PROGRAM) as running:
        yield running


@pytest.fixture
def subscription() -> dict[str, Any]:
    """The settings of the subscription that a test changes, by their key in the file."""
    return {}


@pytest.fixture
def stack(data_centre: DataCentre, tmp_path: Path, subscription: dict[str, Any]) -> Iterator[Stack]:
    with data_centre.azure({**yaml.safe_load(DEFAULT_FILE.read_text()), **subscription}):
        yield Stack(data_centre.engine(tmp_path / "pulumi"), data_centre.run_folder)
