"""The library's Azure components on the real engine, against a simulated Azure that a test can make difficult."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

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

    def run(self, command: str, *, pools: Mapping[str, Any], **settings: Any) -> Outcome:
        given = {"pools": pools, **settings}
        config = {
            f"azure-components:{key}": value if isinstance(value, str | bool) else json.dumps(value)
            for key, value in given.items()
        }
        document = {"encryptionsalt": self.salt, "config": {"azure-native:location": "southcentralus", **config}}
        self.engine.stack_file.write_text(yaml.safe_dump(document))
        return run(self.engine, command)

    def pools(self) -> dict[str, dict[str, Any]]:
        """The agent pools that Azure holds, by name."""
        state = json.loads((self.run_folder.azure / "state.json").read_text())
        return {
            one["outputs"]["name"]: one["outputs"]
            for one in state["resources"]
            if one["pulumi_type"].endswith(":AgentPool") and one["outputs"]["mode"] == "User"
        }


StartStack = Callable[..., Stack]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StartStack]:
    """Starts a data centre.

    faults: what goes wrong in its Azure, as the subscription file says it.
    features: of the subscription, and their states, beside those of the file.
    kubelogin: whether it is installed.
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
            file = tmp_path / "subscription.yaml"
            file.write_text(yaml.safe_dump({**subscription, "faults": list(faults)}))
            monkeypatch.setenv(SUBSCRIPTION_VARIABLE, str(file))
            run_folder = RunFolder.at(tmp_path / "run")
            running.enter_context(ControlPlane.start(run_folder.root, speed=SPEED, parts=[*WITH_KWOK, "azure"]))
            engine = Engine(
                project=PROGRAM,
                folder=run_folder.pulumi,
                stack="test",
                bin_folders=(
                    Path(sys.executable).parent,
                    BIN,
                    *([make_kubelogin(tmp_path / "bin")] if kubelogin else []),
                ),
                environment={ENVIRONMENT_VARIABLE: str(run_folder.root)},
                log=run_folder.log("pulumi"),
            )
            salt = engine.prepare(plugins=PLUGINS)
            make_plugin_folder(engine.plugins)
            return Stack(engine, run_folder, salt)

        yield begin
