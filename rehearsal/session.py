"""A rehearsal as an object: a simulated data centre, and an engine that works on it.

The command line and the tests use it; so can a platform team that imports the components into another program.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rehearsal.azure.described import RESOURCES_FILE, RESOURCES_VARIABLE, described_kinds
from rehearsal.azure.plugin import make_kubelogin, make_plugin_folder
from rehearsal.azure.subscription import SUBSCRIPTION_VARIABLE, load
from rehearsal.control_plane import (
    ALL_PARTS,
    ENVIRONMENT_VARIABLE,
    ControlPlane,
    ControlPlaneError,
    RunFolder,
    down,
)
from rehearsal.control_plane.credentials import CLUSTER_NAME
from rehearsal.control_plane.leftovers import is_supervised
from rehearsal.engine.events import Event
from rehearsal.engine.project_file import read_project
from rehearsal.engine.pulumi import Engine
from rehearsal.faults.file import read_file
from rehearsal.real_tools import REAL, TOOLS_VARIABLE
from rehearsal.run.sizes import known_sizes
from rehearsal.stack import operator_charts, pending, real_tools, stack_file, stand_in_charts, world
from rehearsal.stack.limits import limits_of
from rehearsal.stack.pending_releases import forget_pending_releases
from rehearsal.stack.stack_file import StackFileError
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS
from rehearsal.tools.paths import BIN, PLUGINS, PROJECT, ToolMissingError

DEFAULT_SPEED: Final = 60.0
"""A minute in a second: what takes about half an hour on Azure takes half a minute here."""


def require_tools() -> None:
    """Raises ToolMissingError if this machine has not built the engine and the control plane yet."""
    if not BIN.exists():
        command = "make tools" if (PROJECT / "Makefile").is_file() else "rehearsal tools"
        raise ToolMissingError(
            f"the engine and the control plane are not built: run `{command}`, which takes some minutes once a machine"
        )


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """One stack of one program in a separate data centre.

    project: folder of Pulumi.yaml and the stack files. charts: folder of the two operators' charts; the stand-ins' have
    every release that there is one of. operators: True if stand-ins act for NVIDIA's operators; without, someone else
    has to. subscription: file of the simulated subscription; None for the one that comes with the rehearsal. faults:
    file with the faults of the machines (docs/rehearsal.md); None leaves them as they are, at first none. real_tools:
    True if the RDMA tools of pods are the real ones, in a virtual machine (docs/real-tools.md). clusters: the number of
    managed clusters that can exist at a time; each takes a separate control plane, about 1 GB.
    """

    project: Path
    stack: str
    run: RunFolder
    speed: float = DEFAULT_SPEED
    charts: Path = STAND_IN_CHARTS
    operators: bool = True
    subscription: Path | None = None
    faults: Path | None = None
    clusters: int = 1
    real_tools: bool = False

    def engine(self) -> Engine:
        """The engine on this rehearsal's backend, its stack file written again from the user's.

        The world outside the stack in the file is set up too: machine sizes, the nodes of an existing cluster, the
        definitions of a Prometheus. Raises StackFileError for a stack or charts that are not there, EngineError if the
        engine fails.
        """
        document = stack_file.read(self.project, self.stack)
        charts = self._charts_for(document)
        world.prepare(self.run, document.get("config", {}), faults=self.faults, charts=STAND_IN_CHARTS)
        for cluster in self.run.clusters():
            operator_charts.renew_definitions(cluster.kubeconfig, charts)
        engine = self.engine_as_it_is()
        salt = engine.prepare(plugins=PLUGINS)
        make_plugin_folder(engine.plugins)
        copy = stack_file.rehearsed(
            document,
            charts=charts,
            limits=limits_of(document.get("config", {}), sizes=known_sizes(self.run.root), speed=self.speed),
            salt=salt,
            kubeconfig=self.run.kubeconfig,
            context=CLUSTER_NAME,
        )
        if self.has_real_tools:
            copy = real_tools.with_real_tools(copy)
        engine.stack_file.write_text(stack_file.written(copy), encoding="utf-8")
        engine.set_secrets(stack_file.secrets(document))
        return engine

    def engine_as_it_is(self) -> Engine:
        """The engine on the files that the last `engine()` has set up, nothing of it written again."""
        return Engine(
            project=self.project,
            folder=self.run.pulumi,
            stack=self.stack,
            bin_folders=(Path(sys.executable).parent, BIN, make_kubelogin(self.run.pulumi / "bin")),
            environment={ENVIRONMENT_VARIABLE: str(self.run.root)},
            log=self.run.log("pulumi"),
        )

    def not_taken(self) -> list[str]:
        """The parts of the operators' charts that the stack file requires and this rehearsal lacks, in words."""
        document = stack_file.read(self.project, self.stack)
        charts = operator_charts.not_taken(document.get("config", {}), self._charts_for(document))
        return [*charts, real_tools.NO_THRESHOLDS] if self.has_real_tools else charts

    @property
    def has_real_tools(self) -> bool:
        """True if its tools are real: those of a data centre that was kept are as they were."""
        return self.real_tools or real_tools.are_in(self.run.root)

    def recover(self, engine: Engine) -> None:
        """Bring the stack to a state from which an engine continues, if the last one was killed. Only under
        `the_only_command`.
        """
        engine.cancel_ended_update()
        deployment = engine.deployment()
        for cluster in self.run.clusters():
            forget_pending_releases(deployment, cluster.kubeconfig)
        azure, deletes = self.run.azure / "state.json", pending.pending_deletes(deployment)
        if pending.pending_creates(deployment) or deletes:
            pending.await_azure(azure)
            engine.set_deployment(pending.settled(deployment, azure))
        if deletes:
            engine.refresh(deletes)

    def check_files(self) -> None:
        """Before anything starts or ends: a mistake in a file must not cost a start, or a cluster that was kept.

        Raises ProjectFileError for the project's, StackFileError for a stack or charts that are not there, FaultsError
        and SubscriptionFileError for files with mistakes.
        """
        read_project(self.project).require_host()
        document = stack_file.read(self.project, self.stack)
        stand_in_charts.check(document.get("config", {}), self.charts)
        if self.real_tools or (self.is_kept and self.has_real_tools):
            real_tools.check(document, faults=self.faults, clusters=self.clusters)
            if self.is_kept and not real_tools.are_in(self.run.root):
                raise StackFileError("TOOLS=real: the data centre that was kept has simulated tools; stop it first")
        if self.faults is not None:
            read_file(self.faults)
        if self.subscription is not None:
            load(self.subscription)
        if self.described_resources is not None:
            described_kinds(self.described_resources)

    def _charts_for(self, document: Mapping[str, Any]) -> dict[str, Path]:
        """The chart of each setting. Raises StackFileError if there is none as the file requires it."""
        return stand_in_charts.charts_for(document.get("config", {}), self.charts, into=self.run.root / "charts")

    @property
    def described_resources(self) -> Path | None:
        """The file next to Pulumi.yaml that describes a team's own Azure resources; None if there is none."""
        file = self.project / RESOURCES_FILE
        return file if file.is_file() else None

    @contextmanager
    def data_centre(self, *, keep: bool = False) -> Iterator[Callable[[], None]]:
        """The control plane and the simulators: those of a kept run if there is one, else new ones.

        Gives a check to call often: it raises ControlPlaneError when a part has ended. All of them end with the block,
        unless it ends well and `keep` is True. Raises what `check_files` does, and ControlPlaneError when a part fails.
        """
        self.check_files()
        if self.how_the_kept_ended is not None:
            down(self.run.root)
        with self._kept() if self.is_kept else self._started() as (check, leave):
            yield check
            check()
            if keep:
                leave()

    @contextmanager
    def _started(self) -> Iterator[tuple[Callable[[], None], Callable[[], object]]]:
        parts = [part for part in ALL_PARTS if part != "operators" or self.operators]
        further = [part for part in parts if part != "azure"]  # there is one Azure, and it reaches every cluster
        files = {SUBSCRIPTION_VARIABLE: self.subscription, RESOURCES_VARIABLE: self.described_resources}
        environment = {name: str(file) for name, file in files.items() if file}
        environment |= {TOOLS_VARIABLE: REAL} if self.real_tools else {}
        with ExitStack() as running:
            first = ControlPlane.start(self.run.root, speed=self.speed, parts=parts, environment=environment)
            all_of_them = [running.enter_context(first)]
            for number in range(2, self.clusters + 1):
                folder = self.run.further(number).root
                all_of_them.append(running.enter_context(ControlPlane.start(folder, speed=self.speed, parts=further)))
            yield _of_each(all_of_them, ControlPlane.check), _of_each(all_of_them, ControlPlane.keep)

    @contextmanager
    def _kept(self) -> Iterator[tuple[Callable[[], None], Callable[[], object]]]:
        with ExitStack() as ending:
            ending.callback(down, self.run.root)
            yield self._check_kept, ending.pop_all

    def _check_kept(self) -> None:
        for cluster in self.run.clusters():
            if not _is_up(cluster):
                ended = f"the kept data centre has ended; its logs are in {cluster.logs}"
                raise ControlPlaneError(cluster.read_run_json().get("error") or ended)

    @property
    def is_kept(self) -> bool:
        """True if an earlier run of this stack was left up, and is."""
        return bool(self.run.read_run_json().get("kept")) and self.is_up

    @property
    def is_up(self) -> bool:
        """True if a data centre of this stack runs."""
        return all(map(_is_up, self.run.clusters()))

    @property
    def how_the_kept_ended(self) -> str | None:
        """The reason why a kept run has ended; None if there was none, or if it still runs."""
        run = self.run.read_run_json()
        if not run.get("kept") or run.get("state") == "stopped" or self.is_kept:
            return None
        return str(run.get("error") or f"its processes have ended; logs are in {self.run.logs}")


def _is_up(cluster: RunFolder) -> bool:
    """True if a control plane runs. One whose supervisor was killed has not written down that it has ended."""
    return cluster.read_run_json().get("state") == "ready" and is_supervised(cluster)


def _of_each(started: Sequence[ControlPlane], do: Callable[[ControlPlane], None]) -> Callable[[], None]:
    def each() -> None:
        for control_plane in started:
            do(control_plane)

    return each


def pulumi(engine: Engine, show: Callable[[Event], Any], *command: str) -> bool:
    """Run one engine command to its end, showing each event; whether it succeeded. Stops the engine if interrupted."""
    under_way = engine.run(*command)
    try:
        for event in under_way.events():
            show(event)
    finally:
        under_way.stop()
    return under_way.exit_code == 0
