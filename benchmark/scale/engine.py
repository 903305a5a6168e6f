"""The cost of many pools on the real engine: the time of its commands, resources, and bytes of its state.

One pool of two machines is deployed in a rehearsal, validation included. Its resources in the engine's state are then
copied for every further pool, because a hundred machines that validate for real would take an hour: no timed command
reads them. An update first makes the changes that the engine finds after that; a timed command then must change
nothing, or the copies would be wrong.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmark.program import project
from benchmark.scale.measuring import Usage, measured
from declared.program import run
from rehearsal.control_plane import RunFolder
from rehearsal.engine.events import Diagnostic, Step
from rehearsal.engine.pulumi import Engine
from rehearsal.session import Rehearsal, pulumi

_SPEED: Final = 120.0
_STACK: Final = "dev"
_FIRST: Final = "pool000"
"""The pool that is deployed; its name stands in all that is its own."""
_JOB: Final = "kubernetes:batch/v1:Job"


class BenchmarkError(Exception):
    """An engine command failed, or changed what it must not."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of so many pools. new: `preview` before anything is there; preview, up: if nothing has changed."""

    pools: int
    resources: int
    state_bytes: int
    new: Usage
    preview: Usage
    up: Usage


def costs(pools: Sequence[int], folder: Path) -> Iterator[Cost]:
    """Measure, for each of these numbers of pools."""
    project_ = folder / "project"
    rehearsal = Rehearsal(project=project_, stack=_STACK, run=RunFolder.at(folder / "run"), speed=_SPEED)

    def engine(number: int) -> Engine:
        """With a stack file of so many pools."""
        project(project_, number)
        return rehearsal.engine()

    project_.mkdir(parents=True)
    project(project_, 1)
    with rehearsal.data_centre():
        new = {number: run_command(engine(number), "preview") for number in pools}
        first = engine(1)
        run_command(first, "up")
        deployment = first.deployment()
        for number in pools:
            many = engine(number)
            many.set_deployment(copied(deployment, number, _job_names(many, folder / f"declared{number}")))
            run_command(many, "up")
            preview, up = (run_command(many, command, unchanged=True) for command in ("preview", "up"))
            yield Cost(
                pools=number,
                resources=len(many.deployment()["resources"]),
                state_bytes=many.state_file.stat().st_size,
                new=new[number],
                preview=preview,
                up=up,
            )


def run_command(engine: Engine, command: str, *, unchanged: bool = False) -> Usage:
    """Run an engine command to its end. Raises BenchmarkError if it fails, or changes what is unchanged."""
    changed: list[str] = []
    said: list[str] = []

    def note(event: object) -> None:
        if isinstance(event, Step) and event.changed:
            changed.append(f"{event.operation} {event.name}")
        elif isinstance(event, Diagnostic) and event.severity == "error":
            said.append(event.message)

    options = () if command == "preview" else ("--yes", "--skip-preview")
    with measured() as usage:
        succeeded = pulumi(engine, note, command, *options)
    if not succeeded:
        raise BenchmarkError(f"{command}: {' '.join(said) or f'failed; see {engine.log}'}")
    if unchanged and changed:
        raise BenchmarkError(f"{command} without a change: {', '.join(changed)}")
    return usage


def _job_names(engine: Engine, folder: Path) -> dict[str, str]:
    """By resource, the names of the Jobs that the program declares: they end in a hash of what is in them."""
    shutil.copytree(engine.project, folder)
    shutil.copy(engine.stack_file, folder / f"Pulumi.{_STACK}.yaml")
    declared = run(folder, _STACK).resources.values()
    return {request["name"]: request["object"]["metadata"]["name"] for request in declared if request["type"] == _JOB}


def copied(deployment: Mapping[str, Any], pools: int, jobs: Mapping[str, str]) -> dict[str, Any]:
    """A state in which every resource of the first pool is there once for each pool."""
    resources: list[Any] = []
    for resource in deployment["resources"]:
        text = json.dumps(resource)
        if _FIRST not in resource["urn"]:
            resources.append(resource)
            continue
        for number in range(pools):
            resources.append(json.loads(text.replace(_FIRST, f"pool{number:03}")))
            if resource["type"] == _JOB:
                _rename(resources[-1], jobs[resources[-1]["urn"].rpartition("::")[2]])
    return {**deployment, "resources": resources}


def _rename(job: dict[str, Any], name: str) -> None:
    for place in (job["inputs"], job["outputs"], job["outputs"]["__inputs"]):
        place["metadata"]["name"] = name
    job["id"] = f"{job['inputs']['metadata']['namespace']}/{name}"
