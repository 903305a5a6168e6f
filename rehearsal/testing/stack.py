"""A stack that is rehearsed, as tests use it: bring it up, break machines by a fault's name, read what was made."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lightkube import Client, KubeConfig

from rehearsal.azure.cloud import REQUEST_FAULTS
from rehearsal.azure.subscription_faults import Fault
from rehearsal.cli.terminal import write_activation
from rehearsal.control_plane import ControlPlaneError, RunFolder
from rehearsal.engine.events import Diagnostic, Step
from rehearsal.engine.pulumi import Engine
from rehearsal.faults import machine_faults
from rehearsal.faults.checking import FaultsError, checked
from rehearsal.run.commands import RUNS
from rehearsal.run.folder import write_atomically
from rehearsal.session import Rehearsal, pulumi, require_tools
from rehearsal.stack.real_tools import NO_FAULTS
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS

TEST_SPEED: Final = 120.0
"""Simulated seconds in a real one, in tests: twice as fast as a person looks on."""
_LINKED: Final = (".venv", "venv", "node_modules")
"""Folders with what a program imports: a copy of a program has links to them."""
_LEFT: Final = (".git", ".rehearsal", "__pycache__", ".pytest_cache", ".mypy_cache", *_LINKED)


@dataclass
class Outcome:
    """The actions and words of one engine command."""

    succeeded: bool = False
    steps: list[Step] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def show(self, event: object) -> None:
        """Keep an event of the engine."""
        if isinstance(event, Step):
            self.steps.append(event)
        elif isinstance(event, Diagnostic):
            self.diagnostics.append(event)

    @property
    def changed(self) -> dict[str, str]:
        """Name and kind of every resource that was changed, and how."""
        return {f"{step.type.rsplit(':', 1)[-1]} {step.name}": step.operation for step in self.steps if step.changed}

    @property
    def operations(self) -> dict[str, list[str]]:
        """All that was done to each resource that was changed, by name."""
        operations: dict[str, list[str]] = {}
        for step in self.steps:
            if step.changed:
                operations.setdefault(step.name, []).append(step.operation)
        return operations

    @property
    def plan(self) -> dict[str, list[str]]:
        """All that is done in the world, by URN. For a preview it is what the update would do."""
        plan: dict[str, list[str]] = {}
        for step in self.steps:
            if step.changed and step.custom:
                plan.setdefault(step.urn, []).append(step.operation)
        return {urn: sorted(operations) for urn, operations in plan.items()}

    @property
    def done(self) -> dict[str, str]:
        """The last action on each resource, changed or not, by name."""
        return {step.name: step.operation for step in self.steps}

    @property
    def said(self) -> str:
        """The text of all diagnostics."""
        return "\n".join(diagnostic.message for diagnostic in self.diagnostics)

    @property
    def errors(self) -> str:
        """The text of those diagnostics that are errors."""
        return "\n".join(diagnostic.message for diagnostic in self.diagnostics if diagnostic.severity == "error")


def run(engine: Engine, command: str, *flags: str) -> Outcome:
    """Run `preview`, `up`, `refresh` or `destroy` to its end; each except the first goes ahead without a preview."""
    outcome = Outcome()
    options = () if command == "preview" else ("--yes", "--skip-preview")
    outcome.succeeded = pulumi(engine, outcome.show, command, *options, *flags)
    return outcome


@dataclass
class RehearsedStack:
    """One stack of a program in a running data centre. The program is a copy: a test may change it."""

    rehearsal: Rehearsal

    @property
    def file(self) -> Path:
        """The stack file."""
        return self.rehearsal.project / f"Pulumi.{self.rehearsal.stack}.yaml"

    def run(self, command: str, *flags: str) -> Outcome:
        """Run a command of the engine on the stack: `preview`, `up`, `refresh` or `destroy`."""
        return run(self.rehearsal.engine(), command, *flags)

    def up(self) -> Outcome:
        """Bring the stack up."""
        return self.run("up")

    def preview(self) -> Outcome:
        """Say what `up` would do."""
        return self.run("preview")

    def destroy(self) -> Outcome:
        """Delete all that the stack has made."""
        return self.run("destroy")

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs; secrets stay hidden."""
        return self.rehearsal.engine_as_it_is().outputs()

    def kubeconfig(self, cluster: str = "") -> Path:
        """The administrator's kubeconfig of a managed cluster, by its name in Azure; left out: of the first.

        Raises KeyError for a cluster that is not there.
        """
        runs = self.rehearsal.run.clusters()
        return runs[self._control_planes()[cluster] if cluster else 0].kubeconfig

    def cluster(self, name: str = "") -> Client:
        """A client of a managed cluster's API server; name: as `kubeconfig` takes it."""
        return Client(config=KubeConfig.from_file(self.kubeconfig(name)), trust_env=False)

    def activation(self) -> Path:
        """The file that a shell reads to be in this rehearsal: kubectl, pulumi and aks-infiniband work there."""
        return write_activation(self.rehearsal)

    def azure(self, resource_type: str = "") -> list[dict[str, Any]]:
        """The content of the simulated subscription: `id`, `pulumi_type`, `inputs` and `outputs` of each resource.

        resource_type: of these alone, such as azure-native:containerservice:AgentPool.
        """
        file = self.rehearsal.run.azure / "state.json"
        held: list[dict[str, Any]] = json.loads(file.read_text())["resources"] if file.exists() else []
        return [resource for resource in held if resource_type in ("", resource["pulumi_type"])]

    def fault(self, name: str, **where: Any) -> None:
        """Break machines from now on, in addition to the faults that hold. name, `where`: as in a faults file.

        Raises FaultsError for an unknown name, for keys that the fault does not have, and if the tools of pods are
        real.
        """
        if self.rehearsal.has_real_tools:
            raise FaultsError(NO_FAULTS)
        first = self.rehearsal.run.root
        self._set_faults(checked([*machine_faults.read(first), {"fault": name, **where}], "fault"))

    @contextmanager
    def broken(self, name: str, **where: Any) -> Iterator[None]:
        """Break machines until the block ends, as `fault` does."""
        self.fault(name, **where)
        try:
            yield
        finally:
            added = {"fault": name, **where}
            held = machine_faults.read(self.rehearsal.run.root)
            self._set_faults([entry for entry in held if {key: entry.get(key) for key in added} != added])

    def refuse(self, code: str, **where: Any) -> None:
        """Have Azure refuse requests from now on, or not carry them out, in addition to the subscription's own faults.

        code, `where`: as in a subscription file's faults. Raises ValueError for what such a fault cannot be.
        """
        file = self.rehearsal.run.azure / REQUEST_FAULTS
        held = json.loads(file.read_text()) if file.exists() else []
        fault = Fault.model_validate({"code": code, **where}).model_dump(by_alias=True)
        write_atomically(file, json.dumps([*held, fault]))

    def mend(self) -> None:
        """Take every fault away."""
        self._set_faults([])

    def _set_faults(self, faults: Sequence[dict[str, Any]]) -> None:
        for cluster in self.rehearsal.run.clusters():
            machine_faults.write(cluster.root, faults)

    def _control_planes(self) -> Mapping[str, int]:
        """By the name of each managed cluster, which control plane it has."""
        clusters = self.azure("azure-native:containerservice:ManagedCluster")
        return {each["outputs"]["name"]: each["details"].get("controlPlane", 0) for each in clusters}


@contextmanager
def rehearsing(
    project: Path,
    stack: str,
    *,
    folder: Path,
    speed: float = TEST_SPEED,
    clusters: int = 1,
    subscription: Path | None = None,
    charts: Path = STAND_IN_CHARTS,
    operators: bool = True,
    real_tools: bool = False,
) -> Iterator[RehearsedStack]:
    """A stack of a program in a separate data centre, until the block ends.

    project: folder with Pulumi.yaml. folder: an empty one, for a copy of it and for all that a run writes.
    speed: simulated seconds in a real one. clusters: how many managed clusters there can be at a time.
    subscription: file of the simulated subscription. charts, operators, real_tools: as Rehearsal has them.
    Raises ToolMissingError, and what `Rehearsal.data_centre` does.
    """
    require_tools()
    copy = _copied(project, folder / "project")
    how: dict[str, Any] = {"speed": speed, "clusters": clusters, "operators": operators, "real_tools": real_tools}
    how |= {"subscription": subscription.resolve() if subscription else None, "charts": charts.resolve()}
    rehearsal = Rehearsal(project=copy, stack=stack, run=RunFolder.at(folder / "run"), **how)
    with rehearsal.data_centre():
        yield RehearsedStack(rehearsal)


def kept(project: Path, stack: str, *, charts: Path = STAND_IN_CHARTS) -> RehearsedStack:
    """The stack that `rehearsal up STACK --keep` left up, in its own folder; it stays up.

    charts: as it was given them. Raises ControlPlaneError if none is up.
    """
    folder = project.resolve()
    run = RunFolder.at(folder / RUNS / stack)
    speed = run.read_run_json().get("speed", TEST_SPEED)
    rehearsal = Rehearsal(project=folder, stack=stack, run=run, speed=speed, charts=charts.resolve())
    if not rehearsal.is_kept:
        why = rehearsal.how_the_kept_ended or f"none is in {folder}"
        raise ControlPlaneError(f"no rehearsal of stack {stack} was kept ({why}): rehearsal up {stack} --keep")
    return RehearsedStack(rehearsal)


def _copied(project: Path, folder: Path) -> Path:
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns(*_LEFT))
    for name in _LINKED:
        if (project / name).exists():
            (folder / name).symlink_to((project / name).resolve())
    return folder
