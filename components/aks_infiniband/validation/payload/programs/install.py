"""The programs that measure: found in the image, or installed by its package manager if they are missing.

Programs of the image stay as they are. NVIDIA's images hold packages (NVIDIA-NeMo/Megatron-Bridge pull request 4695),
and with another RDMA library than the image's NCCL was built with something else would be measured.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from .process import Ended, run_to_end

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

# The user _apt, to which apt changes otherwise, needs capabilities that the container has not.
_APT = ("apt-get", "-o", "APT::Sandbox::User=root")
# --no-upgrade is for the packages that are named; what else would change shows in a simulation alone (apt-get(8)).
_APT_INSTALL = (*_APT, "install", "--yes", "--no-install-recommends", "--no-upgrade", "--no-remove")
_STEPS: Mapping[str, Sequence[Sequence[str]]] = {
    "tdnf": (("tdnf", "install", "--assumeyes", "--quiet"),),
    "apt-get": ((*_APT, "update", "--quiet"), (*_APT_INSTALL, "--simulate"), (*_APT_INSTALL, "--quiet")),
}
"""By package manager, its commands; those that install end in the packages."""

_CHANGED = re.compile(r"^(?:Inst (\S+) \[|Remv (\S+) )", re.MULTILINE)
"""A line about a package of the image that would be upgraded (`Inst NAME [OLD] (NEW …)`) or removed."""
_IN_THE_WAY = re.compile(
    r"^The following held packages will be changed:\n((?: +\S.*\n)+)| : (?:Pre)?Depends: (\S+)", re.M
)
"""A line about a held package that apt-get would have to change, or a dependency that it cannot have without changing
one (apt 2.6.1).
"""


class Tools(NamedTuple):
    """The programs that are still missing in the end, and the errors on the way."""

    missing: tuple[str, ...]
    installed: tuple[str, ...]
    """Packages."""
    error: str | None


def ensure(
    programs: Iterable[str],
    limit_seconds: float,
    *,
    which: Callable[[str], str | None] = shutil.which,
    execute: Callable[[Sequence[str], float], Ended] = run_to_end,
) -> Tools:
    """Install the packages of those programs that an image lacks, with the package manager that it has.

    No package of the image is upgraded, removed or unheld. If that would be needed, it installs nothing.
    """
    missing = [program for program in programs if which(program) is None]
    if not missing:
        return Tools((), (), None)
    manager = next((name for name in PACKAGES if which(name) is not None), None)
    if manager is None:
        return Tools(tuple(missing), (), f"the image has no {', no '.join(missing)}, and no tdnf or apt-get")
    packages = sorted({package for program in missing for package in PACKAGES[manager][program].split()})
    for step in _STEPS[manager]:
        ended = execute([*step, *packages] if "install" in step else step, limit_seconds)
        error = _refusal(ended, packages, simulated="--simulate" in step)
        if error:
            return Tools(tuple(missing), (), error)
    return Tools(tuple(program for program in missing if which(program) is None), tuple(packages), None)


def _refusal(ended: Ended, packages: Sequence[str], *, simulated: bool) -> str | None:
    """The reason why packages are not installed, and what to do; None if the step went well."""
    pattern = _CHANGED if simulated and not ended.error else _IN_THE_WAY
    names = sorted({name for groups in pattern.findall(ended.output) for name in " ".join(groups).split()})
    failed = f"{', '.join(packages)} could not be installed"
    if names and (simulated or ended.error):
        held = f"that needs {', '.join(names)} in another version than the image has or holds, and that stays as it is"
        return f"{failed}: {held}. Name an image that has the tools in validation.image"
    return f"{failed}: {ended.error}" if ended.error else None


_SAY_VERSION = ("ib_write_bw", "sockperf")
"""One tool of each package. The tools of libibverbs lack such an option."""


def versions(
    programs: Iterable[str], *, execute: Callable[[Sequence[str], float], Ended] = run_to_end
) -> dict[str, str]:
    """The programs' own words on their version. A program that says nothing is left out."""
    by_package = {}
    for program in programs:
        said = execute((program, "--version"), 10).output if program in _SAY_VERSION else ""
        match = re.search(r"[Vv]ersion:?\s+([\w.+-]+)", said)
        if match:
            by_package[program] = match.group(1)
    return by_package
