"""The command upgrade. Its imports take seconds, so they are made when it runs."""

import argparse
from typing import TYPE_CHECKING, Final

from aks_infiniband_cli.azure.flags import declare_stack
from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, lines_of, note
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of

if TYPE_CHECKING:
    from aks_infiniband_cli.machine_by_machine.upgrade.run import Done, Plan

_READY_SECONDS: Final = 1800.0
_DAY_SECONDS: Final = 24 * 3600


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= _DAY_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of seconds above 0, at most a day")
    return seconds


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `upgrade`."""
    declare_stack(parser)
    declare_cluster(parser)
    declare_namespace(parser)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--to", metavar="VERSION", help="of Kubernetes, such as 1.36, or 1.36.3 for a patch")
    what.add_argument("--node-image", action="store_true", help="the newest node image of each pool")
    what.add_argument("--stop", action="store_true", help="end the upgrade that is under way, here or elsewhere")
    what.add_argument(
        "--release", action="store_true", help="release machines that are held, regardless of the measurement"
    )
    what.add_argument("--back", action="store_true", help="roll pools back to the system before their last upgrade")
    parser.add_argument("--pool", action="append", metavar="NAME", help="only this pool; may be given again")
    parser.add_argument("--dry-run", action="store_true", help="show the plan, and change nothing")
    follow = "measure the first machine of each pool alone; the others follow unmeasured if it is accepted"
    parser.add_argument("--first-only", action="store_true", help=follow)
    parser.add_argument("--include-busy", action="store_true", help="drain machines that are in use, too")
    ready = "so long a machine may take until its drivers are there; default: %(default)g"
    parser.add_argument("--ready-timeout", type=_seconds, default=_READY_SECONDS, metavar="SECONDS", help=ready)


def upgrade(flags: argparse.Namespace) -> Answer:
    """Plan, and carry out; the exit code is FOUND if a machine is not as it was accepted."""
    from aks_infiniband_cli.cluster import NO_ANSWER  # noqa: PLC0415
    from aks_infiniband_cli.console import CommandError  # noqa: PLC0415
    from aks_infiniband_cli.machine_by_machine.upgrade.run import Upgrade, Wish  # noqa: PLC0415

    if flags.dry_run and not (flags.to or flags.node_image):
        raise CommandError("--dry-run shows the plan of --to or --node-image; the other flags have none")
    wish = Wish(
        file=flags.folder / f"Pulumi.{flags.stack}.yaml",
        kubernetes=flags.to,
        pools=tuple(flags.pool or ()),
        subscription=flags.subscription,
        endpoint=flags.endpoint,
        namespace=flags.namespace,
        include_busy=flags.include_busy,
        each=not flags.first_only,
        ready_seconds=flags.ready_timeout,
    )
    file = kubeconfig_of(flags)
    with at_work(f"Reading the cluster of context {file.context}") as say:
        try:
            work = Upgrade(file.kubeconfig, wish, say)
            if flags.stop:
                return _told("stopped", work.stop(), "nothing was under way")
            if flags.release:
                return _told("released", work.release(), "no machine is held")
            if flags.back:
                return _told("back", work.back(), "nothing was rolled back")
            planned = work.plan()
            if flags.dry_run or not planned.steps:
                return _planned(planned)
            note("\n".join(_plan_lines(planned)))
            return _done(work.carry_out(planned), flags.stack)
        except NO_ANSWER as error:
            raise CommandError(
                f"a request to the cluster failed: {error}. The machines that are held stay so"
            ) from error


def _told(key: str, names: list[str], nothing: str) -> Answer:
    return Answer(document={key: names}, lines=lines_of(f"{key}: {', '.join(names)}" if names else nothing))


def _plan_lines(planned: "Plan") -> list[str]:
    """The plan as text: a line a step, what to know, and how long it takes."""
    if not planned.steps:
        return ["nothing to do: everything has it already"]
    lines = ["STEP  WHAT                       MACHINES  FROM -> TO                    ABOUT"]
    for number, step in enumerate(planned.steps, start=1):
        what = f"{step.kind} {step.name}" if step.kind != "control plane" else step.kind
        after = step.target.kubernetes or str(step.target.image)
        change = f"{step.before.rpartition('-')[2]} -> {after.rpartition('-')[2]}"  # of a node image the release
        lines.append(f"{number:<4}  {what:<25}  {step.machines or '-':<8}  {change:<28}  {step.minutes} min")
    hours = sum(step.minutes for step in planned.steps) / 60
    return [*lines, f"about {hours:.1f} hours", *(f"! {known}" for known in planned.breaks)]


def _document(planned: "Plan") -> dict[str, object]:
    steps = [
        {
            "kind": step.kind,
            "name": step.name,
            "machines": step.machines,
            "before": step.before,
            "kubernetes": step.target.kubernetes,
            "node_image": step.target.image,
            "minutes": step.minutes,
        }
        for step in planned.steps
    ]
    return {"steps": steps, "breaks": list(planned.breaks)}


def _planned(planned: "Plan") -> Answer:
    return Answer(document={"plan": _document(planned)}, lines=lines_of(*_plan_lines(planned)))


def _done(result: "Done", stack: str) -> Answer:
    from aks_infiniband_cli.validate import rendering  # noqa: PLC0415

    stopped = result.stopped
    measured = rendering.pool_lines(stopped.measured) if stopped and stopped.measured else ()
    document = {
        "plan": _document(result.plan),
        "accepted": stopped is None,
        "done": result.done,
        "stack_file_changed": result.written,
        "stopped": None
        if stopped is None
        else {
            "pool": stopped.pool,
            "node": stopped.node,
            "shortfalls": list(stopped.shortfalls),
            "held": list(stopped.held),
            "report": rendering.document_of(stopped.measured) if stopped.measured else None,
        },
    }
    return Answer(
        document=document,
        lines=lines_of(*measured, *_lines(result, stack)),
        exit_code=FOUND if stopped else FINE,
    )


def _lines(result: "Done", stack: str) -> list[tuple[str, str]]:
    """Each line below what was measured, and its style on a terminal."""
    done = [(f"done: {what}", "green") for what in result.done]
    file = f"Pulumi.{stack}.yaml says what Azure has now"
    changed = [(f"{file}: commit it", "cyan")] if result.written else []
    if result.stopped is None:
        return [*done, *changed, ("  then: pulumi up, which measures the whole pools and changes no machine", "cyan")]
    stopped, held = result.stopped, ", ".join(result.stopped.held) or "none"
    return [
        *done,
        *changed,
        *((f"short on {stopped.node}: {shortfall}", "bold red") for shortfall in stopped.shortfalls),
        (f"held back, with the system that they had: {held}", "yellow"),
        (f"  continue when it is fixed: the same command; it measures {stopped.node} first", "cyan"),
        (f"  go back, within seven days: aks-infiniband upgrade -s {stack} --back --pool {stopped.pool}", "cyan"),
        (f"  continue all the same: aks-infiniband upgrade -s {stack} --release, and then pulumi up", "cyan"),
    ]


UPGRADE: Final = Command(
    name="upgrade",
    help="another Kubernetes or node image, machine by machine, measured before the next one",
    description=(
        "Shows what an upgrade does and breaks; then upgrades the control plane and each pool. In an InfiniBand "
        "pool AKS upgrades one machine at a time. The command measures it against the pool's accepted result first."
    ),
    example="aks-infiniband upgrade -s dev --to 1.36 --dry-run",
    declare=declare,
    run=upgrade,
    extra="azure",
)
