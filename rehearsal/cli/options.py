"""The options of the command `rehearsal`."""

import argparse
from pathlib import Path

from rehearsal.run import arguments as arguments_of
from rehearsal.session import DEFAULT_SPEED
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS


def parser() -> argparse.ArgumentParser:
    """The commands and their flags."""
    about = "Bring a stack up on this machine, show what it made, and clean up."
    parser = argparse.ArgumentParser(prog="rehearsal", description=about)
    commands = parser.add_subparsers(dest="command", required=True)
    project = "folder with the program's Pulumi.yaml; left out: this folder, or the nearest above that has one"
    parser.add_argument("--project", type=Path, default=nearest_project(Path.cwd()), help=project)
    up = commands.add_parser("up", help="bring a stack up")
    up.add_argument("stack", type=arguments_of.stack)
    up.add_argument("--keep", action="store_true", help="leave the cluster up")
    up.add_argument("--speed", type=arguments_of.speed, default=DEFAULT_SPEED, help="simulated seconds in a real one")
    up.add_argument("--charts", type=Path, default=STAND_IN_CHARTS, help="folder of the operators' charts")
    up.add_argument("--operators", choices=("stand-in", "external"), default="stand-in")
    up.add_argument("--subscription", type=Path, help="quotas, sizes and features of the simulated subscription")
    up.add_argument("--faults", type=Path, help="what is wrong with the simulated machines (docs/rehearsal.md)")
    tools = "RDMA tools of pods; real: in a virtual machine, for two machines (docs/real-tools.md)"
    up.add_argument("--tools", choices=("simulated", "real"), default="simulated", help=tools)
    up.add_argument("--clusters", type=arguments_of.clusters, default=1, help="managed clusters at a time, 1 to 8")
    up.add_argument("--refresh", action="store_true", help="read the resources from the cluster first")
    up.add_argument("-v", "--verbose", action="store_true", help="list the checks that passed too")
    ended = commands.add_parser("down", help="stop what a rehearsal left running")
    ended.add_argument("stack", type=arguments_of.stack, help="a stack's name, or all")
    engine = commands.add_parser("pulumi", help="run pulumi on a rehearsal that was kept")
    engine.add_argument("--charts", type=Path, default=STAND_IN_CHARTS, help="as they were given to up")
    engine.add_argument("--run", type=Path, help="the run folder, if it is not the stack's own")
    engine.add_argument("stack", type=arguments_of.stack)
    engine.add_argument("words", nargs=argparse.REMAINDER, metavar="...", help="arguments for pulumi")
    commands.add_parser("tools", help="build the engine, its providers and the control plane, once a machine")
    return parser


def nearest_project(folder: Path) -> Path:
    """The folder itself, or the nearest above it, that has a Pulumi.yaml; the folder itself if none has."""
    return next((path for path in (folder, *folder.parents) if (path / "Pulumi.yaml").is_file()), folder)
