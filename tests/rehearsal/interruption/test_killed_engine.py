"""An engine that is killed while the simulated Azure works for it: the next command makes nothing twice.

No data centre is started: Azure runs in this process, so that a test can stop its clock.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.azure.clock import Clock
from rehearsal.azure.plugin import make_plugin_folder
from rehearsal.azure.server import announce, serve
from rehearsal.control_plane import ENVIRONMENT_VARIABLE, RunFolder, the_only_command
from rehearsal.control_plane.credentials import write_credentials
from rehearsal.engine.pulumi import Engine
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import BIN, PLUGINS
from tests.rehearsal.engine_runs import run
from tests.rehearsal.waiting import eventually, standing_still

PROGRAM = Path(__file__).with_name("azure_program")
STACK = "test"


@dataclass
class Place:
    """A stack of the program, and an Azure that takes five seconds for every resource."""

    folder: RunFolder
    engine: Engine
    clock: Clock
    """Azure's."""

    def held(self) -> list[dict[str, Any]]:
        """The resources of Azure."""
        file = self.folder.azure / "state.json"
        return list(json.loads(file.read_text())["resources"]) if file.exists() else []

    def cloud(self) -> list[str]:
        """The types of all that Azure holds."""
        return sorted(record["pulumi_type"].rpartition(":")[2] for record in self.held())

    def kill_the_engine(self, command: str, *, at: str) -> None:
        """Start a command, and kill its engine while Azure carries out an operation of a kind."""
        with standing_still(self.clock):
            under_way = self.engine.run(command, "--yes", "--skip-preview")
            eventually(lambda: at in [(record["operation"] or {}).get("kind") for record in self.held()])
            under_way.process.kill()
            under_way.process.wait()

    def next_command(self, command: str) -> None:
        """Run a command as `make rehearse` does after another was killed; it must succeed."""
        with the_only_command(self.folder):
            Rehearsal(project=PROGRAM, stack=STACK, run=self.folder).recover(self.engine)
            outcome = run(self.engine, command)
        assert outcome.succeeded, outcome.said


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = RunFolder.at(tmp_path_factory.mktemp("killed") / "run")
    folder.prepare()
    write_credentials(folder, api_server_port=1)
    server = serve(folder.root, 1.0)
    announce(folder.root, server.port)
    engine = Engine(
        project=PROGRAM,
        folder=folder.pulumi,
        stack=STACK,
        bin_folders=(Path(sys.executable).parent, BIN),
        environment={ENVIRONMENT_VARIABLE: str(folder.root)},
        log=folder.log("pulumi"),
    )
    salt = engine.prepare(plugins=PLUGINS)
    make_plugin_folder(engine.plugins)
    config = {"azure-native:location": "southcentralus"}
    engine.stack_file.write_text(yaml.safe_dump({"encryptionsalt": salt, "config": config}))
    yield Place(folder, engine, server.cloud.clock)
    server.stop()


def test_beside_the_state_no_metadata_is_written_that_a_killed_engine_could_leave_empty(place: Place) -> None:
    """With an empty one the engine could not read the state any more: "failed to load checkpoint: EOF"."""
    assert place.engine.state_file.exists()
    assert list(place.folder.pulumi.rglob("*.attrs")) == []


def test_what_was_being_made_is_there_once(place: Place) -> None:
    place.kill_the_engine("up", at="create")
    place.next_command("up")
    assert place.cloud() == ["ResourceGroup", "VirtualNetwork"]


def test_what_was_being_deleted_is_gone(place: Place) -> None:
    place.kill_the_engine("destroy", at="delete")
    place.next_command("destroy")
    assert place.cloud() == []
