"""A person's shell in a rehearsal that was kept: kubectl, pulumi and aks-infiniband work there as on a deployment."""

import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from rehearsal.control_plane import ControlPlaneError, RunFolder, the_only_command
from rehearsal.run.folder import write_atomically
from rehearsal.run.loopback import LOOPBACK, NO_PROXY
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT

AZURE_VARIABLE: Final = "AKS_INFINIBAND_AZURE"
"""Names a file with the address of the simulated Azure, and its user; `aks-infiniband` reads it."""
_READ_STACK_FILE: Final = frozenset({"config", "destroy", "import", "preview", "refresh", "up", "update"})
"""Commands of pulumi that read the stack file, and so have --config-file: they work on the rehearsal's copy."""
_ONLY_READ: Final = frozenset({"config", "preview"})


def activation(run: RunFolder) -> Path:
    """The file that a shell reads to be in a rehearsal."""
    return run.root / "activate"


def write_activation(rehearsal: Rehearsal) -> Path:
    """Write that file, and the programs that it puts on the PATH; returns the file."""
    run, programs = rehearsal.run, rehearsal.run.root / "bin"
    programs.mkdir(exist_ok=True)
    where = ["--project", rehearsal.project, "pulumi", "--charts", rehearsal.charts, "--run", run.root]
    line = shlex.join([sys.executable, "-m", "rehearsal", *map(str, where), rehearsal.stack])
    script = f'#!/bin/sh\n# pulumi in this rehearsal.\nPYTHONPATH={shlex.quote(str(PROJECT))} exec {line} "$@"\n'
    write_atomically(programs / "pulumi", script, mode=0o755)
    kubelogin = run.pulumi / "bin"
    folders = ":".join(shlex.quote(str(folder)) for folder in (programs, kubelogin, Path(sys.executable).parent))
    hosts = ",".join(LOOPBACK)
    text = [
        "# Puts a shell into this rehearsal. A new shell is outside again.",
        f"export KUBECONFIG={shlex.quote(str(run.kubeconfig))}",
        f"export {AZURE_VARIABLE}={shlex.quote(str(run.azure_login))}",
        f'export PATH={folders}:"$PATH"',
        *(f'export {name}="${{{name}:+${name},}}{hosts}"' for name in NO_PROXY),
    ]
    write_atomically(activation(run), "\n".join(text) + "\n")
    return activation(run)


def pulumi(rehearsal: Rehearsal, words: Sequence[str]) -> int:
    """Run a command of pulumi on the rehearsal's stack, in the project's folder; its exit code.

    Raises ControlPlaneError if no rehearsal of the stack is up, and the errors of `the_only_command` and `engine`.
    """
    if not rehearsal.is_up:
        raise ControlPlaneError(
            f"no rehearsal of stack {rehearsal.stack} is up: rehearse it with KEEP=1, or open a new shell for pulumi"
        )
    command = next((word for word in words if not word.startswith("-")), "")
    reads = command in _READ_STACK_FILE
    changes = reads and command not in _ONLY_READ
    with the_only_command(rehearsal.run) if changes else nullcontext():
        engine = rehearsal.engine() if reads else rehearsal.engine_as_it_is()
        options = ["--config-file", str(engine.stack_file)] if reads else []
        environment = {**engine.environ(), "PULUMI_STACK": rehearsal.stack}
        # A terminal's Ctrl-C reaches the engine too, which ends by itself.
        signal.signal(signal.SIGINT, lambda *_: None)
        done = subprocess.run(["pulumi", *words, *options], cwd=rehearsal.project, env=environment, check=False)
    return done.returncode
