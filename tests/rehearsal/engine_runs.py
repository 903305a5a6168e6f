"""The real engine on a program of a test's own, and what came of its commands."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rehearsal.engine.events import Diagnostic, Step
from rehearsal.engine.pulumi import Engine
from rehearsal.session import pulumi
from rehearsal.tools.paths import BIN, PLUGINS


@dataclass
class Outcome:
    """What one engine command did and said."""

    succeeded: bool = False
    steps: list[Step] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def show(self, event: object) -> None:
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
        """All that is done in the world, by URN: a preview's is what the update is to do."""
        plan: dict[str, list[str]] = {}
        for step in self.steps:
            if step.changed and step.custom:
                plan.setdefault(step.urn, []).append(step.operation)
        return {urn: sorted(operations) for urn, operations in plan.items()}

    @property
    def done(self) -> dict[str, str]:
        """What was done last to each resource, changed or not, by name."""
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
    """Run `preview`, `up`, `refresh` or `destroy` to its end; all but the first go ahead without a preview."""
    outcome = Outcome()
    options = () if command == "preview" else ("--yes", "--skip-preview")
    outcome.succeeded = pulumi(engine, outcome.show, command, *options, *flags)
    return outcome


def engine_on(
    program: Path, *, folder: Path, stack: str, environment: Mapping[str, str], config: Mapping[str, str] | None = None
) -> Engine:
    """The engine on a stack of a program that needs no Azure. config: the stack's, by full key."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = Engine(
        project=program,
        folder=folder,
        stack=stack,
        bin_folders=(Path(sys.executable).parent, BIN),
        environment=environment,
        log=folder / "log",
    )
    document: dict[str, Any] = {"encryptionsalt": engine.prepare(plugins=PLUGINS), "config": dict(config or {})}
    engine.stack_file.write_text(yaml.safe_dump(document))
    return engine
