"""`python -m rehearsal`: bring a stack up on this machine, show what it made, and clean up."""

import argparse
import errno
import json
import shlex
import signal
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final

from aks_infiniband.terminal import unforeseen
from rich.console import Console
from rich.markup import escape

from rehearsal.azure.described import ResourcesFileError
from rehearsal.azure.subscription import SubscriptionFileError
from rehearsal.cli.options import parser
from rehearsal.cli.terminal import pulumi as run_pulumi
from rehearsal.cli.terminal import write_activation
from rehearsal.control_plane import (
    BusyError,
    ControlPlaneError,
    RunFolder,
    RunFolderError,
    down,
    the_only_command,
)
from rehearsal.engine.events import Event, Step
from rehearsal.engine.project_file import ProjectFileError
from rehearsal.engine.pulumi import EngineError
from rehearsal.faults.checking import FaultsError
from rehearsal.faults.file import holding
from rehearsal.machines.kubelet import landlock
from rehearsal.outcome.failure import print_failure
from rehearsal.outcome.left_out import not_run
from rehearsal.outcome.progress import Progress
from rehearsal.outcome.reports import known, left_in, reports_of
from rehearsal.outcome.result import result
from rehearsal.outcome.screen import Screen
from rehearsal.outcome.summary import print_summary, since_then
from rehearsal.outcome.timeline import draw
from rehearsal.real_tools.packages import UnavailableError
from rehearsal.run.commands import RUNS, make, module, stop
from rehearsal.run.folder import write_atomically
from rehearsal.run.make import make_above, was_interrupted
from rehearsal.session import DEFAULT_SPEED, Rehearsal, pulumi, require_tools
from rehearsal.stack.stack_file import StackFileError
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS
from rehearsal.tools import build
from rehearsal.tools.paths import PROJECT, ToolMissingError

_DEFAULTS: Final = {
    **{"speed": f"{DEFAULT_SPEED:g}", "charts": STAND_IN_CHARTS, "operators": "stand-in", "clusters": "1"},
    "tools": "simulated",
}

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_WRONG_FILES: Final = (ProjectFileError, StackFileError, FaultsError, SubscriptionFileError, ResourcesFileError)
_TOLD: Final = (
    *_WRONG_FILES,
    BusyError,
    ControlPlaneError,
    EngineError,
    RunFolderError,
    ToolMissingError,
    UnavailableError,
)
"""Errors whose text says all that a person needs."""
WRONG_INPUT: Final = 2
"""The exit code for flags and files that are unusable, and for an unforeseen error."""
EXIT_STOPPED: Final = 130
"""The exit code that shells report for a program that Ctrl-C ended."""


class StoppedBySignalError(Exception):
    """A signal to stop reached the rehearsal."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the process's exit code."""
    for number in _SIGNALS:
        signal.signal(number, _stop)
    console = Screen(soft_wrap=True, emoji=False)  # a type such as azure-native:x:Y is not a picture
    chosen = parser().parse_args(arguments)
    command: Callable[[argparse.Namespace, Console], int] = {
        "up": _up, "down": stop_rehearsals, "pulumi": _pulumi, "tools": _tools,
    }[chosen.command]  # fmt: skip
    try:
        return command(chosen, console)
    except _TOLD as error:
        console.print(f"rehearsal: {error}", style="red", markup=False, highlight=False)
        return WRONG_INPUT if isinstance(error, _WRONG_FILES) else 1
    except OSError as error:
        # A write into an open file does not name it, and what a rehearsal writes is there.
        place = error.filename or ((chosen.project / RUNS).resolve() if error.errno == errno.ENOSPC else None)
        where = f" ({place})" if place else ""
        console.print(f"rehearsal: {error.strerror or error}{where}", style="red", markup=False, highlight=False)
        return 1
    except StoppedBySignalError as stopped:
        console.print(f"Stopped by {stopped}; nothing of this rehearsal is left running.", style="yellow")
        return EXIT_STOPPED
    except Exception as error:  # a user never gets a traceback, whatever it is
        console.print(f"rehearsal: {unforeseen(error)}", style="red", markup=False, highlight=False)
        return WRONG_INPUT


def _stop(number: int, _frame: FrameType | None) -> None:
    # Once is enough: a second Ctrl-C must not cut the cleaning up short.
    for other in _SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise StoppedBySignalError(signal.Signals(number).name)


def _up(chosen: argparse.Namespace, console: Console) -> int:
    rehearsal = Rehearsal(
        project=chosen.project.resolve(),
        stack=chosen.stack,
        run=RunFolder.at(chosen.project / RUNS / chosen.stack),
        speed=chosen.speed,
        charts=chosen.charts.resolve(),
        operators=chosen.operators == "stand-in",
        subscription=chosen.subscription.resolve() if chosen.subscription else None,
        faults=chosen.faults.resolve() if chosen.faults else None,
        clusters=chosen.clusters,
        real_tools=chosen.tools == "real",
    )
    rehearsal.check_files()
    require_tools()
    with the_only_command(rehearsal.run):
        tempfile.tempdir = str(rehearsal.run.root)
        return _up_alone(chosen, rehearsal, Progress(console=console))


def _up_alone(chosen: argparse.Namespace, rehearsal: Rehearsal, progress: Progress) -> int:
    console = progress.console
    if rehearsal.is_kept:
        progress.say(f"carrying on with the data centre of stack {chosen.stack}, as it was started")
    else:
        if ended := rehearsal.how_the_kept_ended:
            console.print(f"The data centre that was kept is there no longer: {ended}", style="yellow", markup=False)
        progress.say(f"starting the data centre of stack {chosen.stack}")
    if unconfined := landlock.warning():
        progress.say(f"[yellow]{unconfined}[/yellow]")
    with rehearsal.data_centre(keep=chosen.keep) as check:
        made = _bring_up(chosen, rehearsal, progress, check)
    if chosen.keep:
        line = f"  . {shlex.quote(str(write_activation(rehearsal)))}"
        console.print("The cluster stays up. This gives a shell its kubectl, pulumi and Azure:", highlight=False)
        console.print(line, markup=False, highlight=False)
        console.print("This stops it:", highlight=False)
        console.print(f"  {stop(rehearsal.run.root)}", markup=False, highlight=False)
    if not made:
        slept, command = progress.slept_seconds, _keeping(chosen)
        print_failure(console, progress.errors, logs=rehearsal.run.logs, command=command, slept_seconds=slept)
    return 0 if made else 1


def _keeping(chosen: argparse.Namespace, *flags: str) -> str:
    """The command that rehearses the same and leaves the cluster up. flags: additional ones."""
    files = {name: getattr(chosen, name) for name in ("charts", "subscription", "faults")}
    options = {"speed": f"{chosen.speed:g}", "operators": chosen.operators, "clusters": str(chosen.clusters)}
    options |= {"tools": chosen.tools}
    options |= {name: str(file.resolve()) for name, file in files.items() if file}
    changed = {name: value for name, value in options.items() if value != str(_DEFAULTS.get(name))}
    if chosen.project.resolve() == PROJECT:
        named = {**changed, **dict.fromkeys(flags, "1")}
        return make("rehearse", STACK=chosen.stack, KEEP=1, **{name.upper(): value for name, value in named.items()})
    words = [*(w for name, value in changed.items() for w in (f"--{name}", value)), *(f"--{flag}" for flag in flags)]
    return module("rehearsal", "--project", chosen.project.resolve(), "up", chosen.stack, "--keep", *words)


def _bring_up(chosen: argparse.Namespace, rehearsal: Rehearsal, progress: Progress, check: Callable[[], None]) -> bool:
    """Preview, up, the summary and the result file; whether the stack is up."""
    run, done, make = rehearsal.run, list[Step](), make_above()
    run.result.unlink(missing_ok=True)  # of an earlier command on a data centre that was kept

    def plan(event: Event) -> None:
        progress.show(event)  # first: if a part ended because the machine slept, that has been said
        check()
        if make is not None and was_interrupted(make):
            raise StoppedBySignalError("SIGINT of make")

    def work(event: Event) -> None:
        plan(event)
        if isinstance(event, Step):
            done.append(event)

    progress.say(f"ready; one second here is {run.read_run_json()['speed']:g} simulated. [bold]pulumi preview[/bold]")
    engine = rehearsal.engine()
    if faults := holding(run.root)[0]:
        progress.say(f"[yellow]faults hold[/yellow]: {escape(faults)}; FAULTS= with an empty file takes them away")
    rehearsal.recover(engine)
    made = pulumi(engine, plan, "preview", *(how := ["--refresh"] * chosen.refresh))
    begun, began_at = time.monotonic(), time.time()
    if made:
        progress.forget_plan()
        progress.say("[bold]pulumi up[/bold]")
        made = pulumi(engine, work, "up", "--yes", "--skip-preview", *how)
    ended, outputs = time.monotonic(), engine.outputs()
    # A Job that failed has left its report in the cluster alone.
    left = {} if made else known(_of_all(run, left_in), began_at).measured
    reports = known({**reports_of(outputs, engine.deployment()), **left}, began_at)
    idle = [word for cluster in run.clusters() for word in not_run(cluster.kubeconfig, began_at)]
    out = [*rehearsal.not_taken(), *idle]
    rest: dict[str, Any] = {"begun": begun, "ended": ended, "status": "succeeded" if made else "failed"}
    document = result(stack=chosen.stack, steps=done, outputs=outputs, known=reports, left_out=out, **rest)
    write_atomically(run.result, json.dumps(document, indent=2) + "\n")
    if done:
        look = "" if chosen.refresh else _keeping(chosen, "refresh")
        since = since_then(progress.steps, run, failed=not made, look=look, stays=chosen.keep)
        shown: dict[str, Any] = {"since": since, "left_out": out, "every": chosen.verbose}
        print_summary(progress.console, progress.steps, outputs, reports, **shown)
    if progress.steps:
        draw(progress.console, result=run.result, state=engine.state_file, folder=run.root)
    return made


def stop_rehearsals(chosen: argparse.Namespace, console: Console) -> int:
    """Stop what a rehearsal left running; returns the exit code."""
    runs = chosen.project / RUNS
    stacks = sorted(path.name for path in runs.glob("*/")) if chosen.stack == "all" else [chosen.stack]
    for stack in stacks:
        ended = down(runs / stack)
        console.print(f"{stack}: ended {', '.join(ended)}" if ended else f"{stack}: nothing is running")
    return 0


def _of_all(run: RunFolder, read: Callable[[Path], Mapping[str, Any]]) -> dict[str, Any]:
    """The objects of the clusters of a run, together. read: takes a kubeconfig."""
    return {name: value for cluster in run.clusters() for name, value in read(cluster.kubeconfig).items()}


def _tools(_chosen: argparse.Namespace, _console: Console) -> int:
    return build.main()


def _pulumi(chosen: argparse.Namespace, _console: Console) -> int:
    run = RunFolder.at(chosen.run or chosen.project / RUNS / chosen.stack)
    rehearsal = Rehearsal(
        project=chosen.project.resolve(),
        stack=chosen.stack,
        run=run,
        speed=run.read_run_json().get("speed", DEFAULT_SPEED),
        charts=chosen.charts.resolve(),
    )
    return run_pulumi(rehearsal, chosen.words)
