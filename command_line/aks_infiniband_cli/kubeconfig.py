"""The flags with which a command reaches a cluster, and the kubeconfig that they name."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE

from aks_infiniband_cli.console import CommandError

if TYPE_CHECKING:  # importing it takes a second
    from aks_infiniband.access.kubeconfig_file import KubeconfigFile

_DEFAULT: Final = "~/.kube/config"


def declare_cluster(parser: argparse.ArgumentParser, one_of: "argparse._MutuallyExclusiveGroup | None" = None) -> None:
    """Add the flags that name a cluster. one_of: what else may be named in its place."""
    (one_of or parser).add_argument(
        "--kubeconfig", metavar="FILE", help=f"the cluster; default: $KUBECONFIG, else {_DEFAULT}"
    )
    parser.add_argument("--context", help="of the kubeconfig; default: its current one")


def declare_namespace(parser: argparse.ArgumentParser) -> None:
    """Add the flag for the namespace whose validations count: in another namespace every user who runs pods could have
    made them.
    """
    of_program = f"namespace of the program's validations; default: {SYSTEM_NAMESPACE}"
    parser.add_argument("--namespace", default=SYSTEM_NAMESPACE, metavar="NAME", help=of_program)


def kubeconfig_of(flags: argparse.Namespace) -> "KubeconfigFile":
    """The kubeconfig that was named. Raises CommandError if there is none, or none that can be used."""
    from aks_infiniband.access.kubeconfig import KubeconfigError  # noqa: PLC0415
    from aks_infiniband.access.kubeconfig_file import read_kubeconfig  # noqa: PLC0415

    path, named_by = _named(flags.kubeconfig)
    if not _is_there(path):
        raise CommandError(f"kubeconfig {_whole(path)} does not exist; {named_by}")
    try:
        return read_kubeconfig(path, context=flags.context)
    except KubeconfigError as error:
        raise CommandError(f"{error}; {named_by}") from error


def kubeconfig_path(flags: argparse.Namespace) -> str:
    """The path of the kubeconfig that was named, as it was written."""
    return _named(flags.kubeconfig)[0]


def _is_there(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (RuntimeError, ValueError):  # no such home folder, or a name that no file can have
        return False


def _whole(path: str) -> str:
    """The path from the root, as far as there is one."""
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError:
        return f"{path} (unknown home folder)"


def _named(given: str | None) -> tuple[str, str]:
    """Its path, and the source of the path: of several files in KUBECONFIG the first that exists, as one file goes."""
    several = [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
    if given:
        return given, "--kubeconfig names it"
    if several:
        first = next((path for path in several if _is_there(path)), several[0])
        return first, "KUBECONFIG names it; --kubeconfig can name another"
    return _DEFAULT, "name another with --kubeconfig or KUBECONFIG"
