"""The library's Azure components on the real engine, against a simulated Azure that a test can make difficult."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

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

    def run(self, command: str, *flags: str, pools: Mapping[str, Any], **settings: Any) -> Outcome:
        given = {"pools": pools, **settings}
        plain = {key: value if isinstance(value, str | bool) else json.dumps(value) for key, value in given.items()}
        write_stack_file(self.engine, "azure-components", plain)
        return run(self.engine, command, *flags)

    def pools(self) -> dict[str, dict[str, Any]]:
        """The agent pools that Azure holds, by name."""
        state = json.loads((self.run_folder.azure / "state.json").read_text())
        return {
            item["outputs"]["name"]: item["outputs"]
            for item in state["resources"]
            if item["pulumi_type"].endswith(":AgentPool") and item["outputs"]["mode"] == "User"
        }


StartStack = Callable[..., Stack]


@pytest.fixture(scope="module")
def data_centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataCentre]:
    with DataCentre.running(tmp_path_factory.mktemp("azure") / "run", PROGRAM) as running:
        yield running


@pytest.fixture
def start(data_centre: DataCentre, tmp_path: Path) -> Iterator[StartStack]:
    """Starts an Azure, and gives a stack in it.

    faults: its faults, as the subscription file has them. features: of the subscription, and their states, in addition
    to those of the file. kubelogin: True if it is installed.
    """
    with ExitStack() as running:

        def begin(
            faults: Sequence[Mapping[str, Any]] = (),
            *,
            features: Mapping[str, str] | None = None,
            kubelogin: bool = True,
        ) -> Stack:
            subscription = yaml.safe_load(DEFAULT_FILE.read_text())
            subscription["features"] = {**subscription["features"], **(features or {})}
            running.enter_context(data_centre.azure({**subscription, "faults": list(faults)}))
            return Stack(data_centre.engine(tmp_path / "pulumi", kubelogin=kubelogin), data_centre.run_folder)

        yield begin
