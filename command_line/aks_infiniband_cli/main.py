"""The front door of `aks-infiniband`: it knows its commands, and turns what they answer into an exit code."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from aks_infiniband.terminal import unforeseen

from aks_infiniband_cli.adopt.command import ADOPT
from aks_infiniband_cli.assistant.command import MCP
from aks_infiniband_cli.bad_machines.evidence.command import EVIDENCE
from aks_infiniband_cli.choose.command import INIT
from aks_infiniband_cli.console import WRONG_USE, Command, CommandError, Parser, note, show
from aks_infiniband_cli.doctor.command import DOCTOR
from aks_infiniband_cli.machine_by_machine.replace.command import REPLACE
from aks_infiniband_cli.machine_by_machine.rollout.command import ROLLOUT
from aks_infiniband_cli.machine_by_machine.upgrade.command import UPGRADE
from aks_infiniband_cli.preflight.command import PREFLIGHT
from aks_infiniband_cli.report.command import REPORT, TIMELINE
from aks_infiniband_cli.teardown.command import TEARDOWN
from aks_infiniband_cli.validate.command import VALIDATE
from aks_infiniband_cli.workload.command import WORKLOAD

_PROGRAM: Final = "aks-infiniband"
COMMANDS: Final[tuple[Command, ...]] = (
    INIT,
    ADOPT,
    PREFLIGHT,
    DOCTOR,
    VALIDATE,
    EVIDENCE,
    REPLACE,
    ROLLOUT,
    UPGRADE,
    REPORT,
    TIMELINE,
    WORKLOAD,
    TEARDOWN,
    MCP,
)
_PLUGIN: Final = (DOCTOR, VALIDATE, EVIDENCE, REPLACE, REPORT)
"""The commands that need a cluster and do not need the folder of a stack."""
_INTERRUPTED: Final = 130
"""The exit code that shells report for a program that Ctrl-C ended."""
EXIT_CODES: Final = (
    "exit codes: 0 fine, 1 something is not as it should be, 2 wrong use or no answer, 3 a pool was not measured "
    "(validate and report), 130 stopped by Ctrl-C"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, without its first word; returns the exit code. Raises SystemExit for unknown flags."""
    return _run(command_parser(), arguments)


def kubectl_plugin(arguments: Sequence[str] | None = None) -> int:
    """Run a command line as `kubectl infiniband`, to which kubectl hands what follows these two words."""
    return _run(kubectl_parser(), arguments)


def _run(parser: Parser, arguments: Sequence[str] | None) -> int:
    flags = parser.parse_args(arguments)
    command: Command = flags.command
    try:
        return _answered(command, flags)
    except (CommandError, OSError) as error:
        return _refused(parser, command, str(error))
    except (EOFError, KeyboardInterrupt) as given_up:
        _refused(parser, command, "stopped")
        return WRONG_USE if isinstance(given_up, EOFError) else _INTERRUPTED
    except Exception as error:  # a user never gets a traceback, whatever it is
        return _refused(parser, command, unforeseen(error))


def _answered(command: Command, flags: argparse.Namespace) -> int:
    try:
        answer = command.run(flags)
    except ModuleNotFoundError as error:
        if command.extra is None:
            raise
        raise CommandError(f"{error}: pip install 'aks-infiniband-cli[{command.extra}]'") from error
    try:
        show(answer, flags.output)
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has enough; nothing is written at the end either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return answer.exit_code


def _refused(parser: Parser, command: Command, why: str) -> int:
    note(f"{parser.prog} {command.name}: {why}")
    return WRONG_USE


class _Version(argparse.Action):
    """Reads the versions of what is installed, only if they are wanted."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        command, library = (version(name) for name in ("aks-infiniband-cli", "aks-infiniband"))
        print(f"aks-infiniband {command} (library aks-infiniband {library})")
        parser.exit()


def command_parser(program: str = _PROGRAM, offered: Sequence[Command] | None = None) -> Parser:
    """The parser of commands and their flags. program: what people type to run it. offered: None: every command."""
    parser = Parser(prog=program, epilog=EXIT_CODES)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the versions of the command and the library")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS if offered is None else offered:
        epilog = f"example: {command.example.replace(_PROGRAM, program)} | {EXIT_CODES}"
        its = commands.add_parser(command.name, help=command.help, description=command.description, epilog=epilog)
        command.declare(its)
        its.add_argument("--output", choices=("text", "json"), default="text", help="default: text")
        its.set_defaults(command=command)
    return parser


def kubectl_parser() -> Parser:
    """The same of the commands that `kubectl infiniband` offers."""
    return command_parser("kubectl infiniband", _PLUGIN)


if __name__ == "__main__":
    sys.exit(main())
