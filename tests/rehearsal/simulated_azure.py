"""A control plane that many tests share, and for each of them an Azure and a stack that know nothing of the others."""

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rehearsal.azure.clock import Clock
from rehearsal.azure.emptying import empty
from rehearsal.azure.plugin import make_kubelogin, make_plugin_folder
from rehearsal.azure.server import announce, serve
from rehearsal.control_plane import ENVIRONMENT_VARIABLE, WITH_KWOK, ControlPlane, RunFolder
from rehearsal.engine.pulumi import Engine
from rehearsal.tools.paths import BIN, PLUGINS

SPEED = 200.0


@dataclass(frozen=True)
class DataCentre:
    """A running control plane, and a program's stack in it that is ready to be copied."""

    run_folder: RunFolder
    program: Path

    @classmethod
    @contextmanager
    def running(cls, folder: Path, program: Path) -> Iterator["DataCentre"]:
        """One without an Azure, until the block ends. folder: a run folder."""
        with ControlPlane.start(folder, speed=SPEED, parts=WITH_KWOK) as control_plane:
            data_centre = cls(control_plane.run, program)
            engine = data_centre.engine_in(control_plane.run.pulumi, kubelogin=True)
            engine.prepare(plugins=PLUGINS)
            make_plugin_folder(engine.plugins)
            yield data_centre

    @contextmanager
    def azure(self, subscription: Mapping[str, Any]) -> Iterator[None]:
        """An Azure whose subscription holds nothing; when the block ends, the cluster holds nothing either."""
        file = self.run_folder.azure / "subscription.yaml"
        file.write_text(yaml.safe_dump(dict(subscription)))
        (self.run_folder.azure / "state.json").unlink(missing_ok=True)
        server = serve(self.run_folder.root, SPEED, file)
        announce(self.run_folder.root, server.port)
        try:
            yield
        finally:
            server.stop()
            empty(server.cloud.control_planes()[0], Clock(SPEED))

    def engine(self, folder: Path, *, kubelogin: bool = True) -> Engine:
        """The engine on a new stack. folder: a new one of the test."""
        shutil.copytree(self.run_folder.pulumi, folder, symlinks=True)
        return self.engine_in(folder, kubelogin=kubelogin)

    def engine_in(self, folder: Path, *, kubelogin: bool) -> Engine:
        """The engine on a folder that is there already."""
        return Engine(
            project=self.program,
            folder=folder,
            stack="test",
            bin_folders=(Path(sys.executable).parent, BIN, *([make_kubelogin(folder / "bin")] if kubelogin else [])),
            environment={ENVIRONMENT_VARIABLE: str(self.run_folder.root)},
            log=folder / "log",
        )


def write_stack_file(engine: Engine, project: str, settings: Mapping[str, Any]) -> None:
    """Make a stack file of a program's settings, all in one region."""
    config = {f"{project}:{key}": value for key, value in settings.items()}
    document = {
        "encryptionsalt": engine.prepare(plugins=PLUGINS),
        "config": {"azure-native:location": "southcentralus", **config},
    }
    engine.stack_file.write_text(yaml.safe_dump(document))
