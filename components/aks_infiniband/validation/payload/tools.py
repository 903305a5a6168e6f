"""The programs that measure: found in the image, or installed by its package manager where they are missing."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from .process import Ended, run

_EVERYWHERE = {
    **dict.fromkeys(("ib_write_bw", "ib_read_bw", "ib_read_lat"), "perftest"),
    "ibstat": "infiniband-diags",
    "sockperf": "sockperf",
}
PACKAGES: Mapping[str, Mapping[str, str]] = {
    # microsoft/azurelinux 3.0: SPECS/perftest, SPECS/sockperf, SPECS/rdma-core (libibverbs-utils, infiniband-diags).
    "tdnf": {
        **_EVERYWHERE,
        "ibv_rc_pingpong": "libibverbs-utils",
        "ibv_devinfo": "libibverbs-utils",
    },
    # Ubuntu 24.04 and Debian 12: main and universe; libmlx5 is in ibverbs-providers, which nothing else pulls in.
    "apt-get": {
        **_EVERYWHERE,
        "ibv_rc_pingpong": "ibverbs-utils ibverbs-providers",
        "ibv_devinfo": "ibverbs-utils ibverbs-providers",
    },
}
"""By package manager, the packages of each program."""

_INSTALL: Mapping[str, Sequence[Sequence[str]]] = {
    "tdnf": (("tdnf", "install", "--assumeyes", "--quiet"),),
    # The user _apt, to which apt changes otherwise, needs capabilities that the container has not.
    "apt-get": (
        ("apt-get", "-o", "APT::Sandbox::User=root", "update", "--quiet"),
        ("apt-get", "-o", "APT::Sandbox::User=root", "install", "--yes", "--quiet", "--no-install-recommends"),
    ),
}


class Tools(NamedTuple):
    """What is there after all, and what went wrong on the way."""

    missing: tuple[str, ...]
    installed: tuple[str, ...]
    """Packages."""
    error: str | None


def ensure(
    programs: Iterable[str],
    limit_seconds: float,
    *,
    which: Callable[[str], str | None] = shutil.which,
    execute: Callable[[Sequence[str], float], Ended] = run,
) -> Tools:
    """Install what an image lacks of these programs, with the package manager that it has."""
    missing = [program for program in programs if which(program) is None]
    if not missing:
        return Tools((), (), None)
    manager = next((name for name in PACKAGES if which(name) is not None), None)
    if manager is None:
        return Tools(tuple(missing), (), f"the image has no {', no '.join(missing)}, and no tdnf or apt-get")
    packages = sorted({package for program in missing for package in PACKAGES[manager][program].split()})
    *before, install = _INSTALL[manager]
    for command in (*before, (*install, *packages)):
        ended = execute(command, limit_seconds)
        if ended.error:
            error = f"{', '.join(packages)} could not be installed: {ended.error}"
            return Tools(tuple(missing), (), error)
    return Tools(tuple(program for program in missing if which(program) is None), tuple(packages), None)


_SAY_VERSION = ("ib_write_bw", "sockperf")
"""Of the tools that come in one package, one each; those of libibverbs know no such option."""


def versions(programs: Iterable[str], *, execute: Callable[[Sequence[str], float], Ended] = run) -> dict[str, str]:
    """What the programs say of their version; one that says nothing is left out."""
    found = {}
    for program in programs:
        said = execute((program, "--version"), 10).output if program in _SAY_VERSION else ""
        match = re.search(r"[Vv]ersion:?\s+([\w.+-]+)", said)
        if match:
            found[program] = match.group(1)
    return found
