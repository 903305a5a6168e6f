"""A data centre per module, and programs that differ from the project's own in one thing."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import Node

from rehearsal.control_plane import RunFolder
from rehearsal.engine import Engine
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import Outcome, run

SPEED = 120.0


@dataclass
class Stack:
    """A copy of the project whose stack file, or program, a test may change."""

    rehearsal: Rehearsal

    @property
    def file(self) -> Path:
        return self.rehearsal.project / f"Pulumi.{self.rehearsal.stack}.yaml"

    def settings(self, **changes: Any) -> None:
        """Change settings under `aks-infiniband:`."""
        document = yaml.safe_load(self.file.read_text())
        for key, value in changes.items():
            document["config"][f"aks-infiniband:{key}"] = value
        self.file.write_text(yaml.safe_dump(document))

    def run(self, command: str) -> Outcome:
        return run(self.rehearsal.engine(), command)

    def up(self) -> Outcome:
        return self.run("up")

    def preview(self) -> Outcome:
        return self.run("preview")

    def outputs(self) -> dict[str, Any]:
        engine: Engine = self.rehearsal.engine()
        return engine.outputs()

    def cluster(self) -> Client:
        return Client(config=KubeConfig.from_file(self.rehearsal.run.kubeconfig))

    def nodes(self, **labels: str) -> list[dict[str, Any]]:
        """The nodes with these labels (`__` stands for a slash), as plain documents."""
        wanted: dict[str, Any] = {key.replace("__", "/"): value for key, value in labels.items()}
        return [node.to_dict() for node in self.cluster().list(Node, labels=wanted)]


def copy_of_project(folder: Path) -> Path:
    """The project as a person has it, without what was built or installed."""
    folder.mkdir(parents=True)
    for name in ("__main__.py", "Pulumi.yaml", "Pulumi.dev.yaml"):
        shutil.copy(PROJECT / name, folder / name)
    shutil.copytree(PROJECT / "values", folder / "values")
    return folder


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The stack `dev`, in a data centre that the tests of one module share."""
    folder = tmp_path_factory.mktemp("stack")
    rehearsal = Rehearsal(
        project=copy_of_project(folder / "project"), stack="dev", run=RunFolder.at(folder / "run"), speed=SPEED
    )
    with rehearsal.data_centre():
        yield Stack(rehearsal)
