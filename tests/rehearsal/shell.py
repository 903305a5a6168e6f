"""A person's shell: the commands of the documents, and those that a rehearsal prints."""

import os
import shlex
import subprocess
from pathlib import Path
from tempfile import gettempdir

from rehearsal.cli.terminal import write_activation
from rehearsal.session import Rehearsal


def in_shell(script: str, folder: Path | None = None, *, seconds: float = 180) -> str:
    """The output of a script; it must succeed. folder: for its run; None: any, far from the project.

    seconds: how long it may take.
    """
    outside = {key: value for key, value in os.environ.items() if key not in {"KUBECONFIG", "PULUMI_STACK"}}
    done = subprocess.run(
        ["bash", "-c", f"set -euo pipefail\n{script}"],
        check=False,
        cwd=folder or gettempdir(),
        env=outside,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def shell(rehearsal: Rehearsal, script: str, *, folder: Path, seconds: float = 180) -> str:
    """The same in a rehearsal, after the line that `make rehearse KEEP=1` prints."""
    return in_shell(f". {shlex.quote(str(write_activation(rehearsal)))}\n{script}", folder, seconds=seconds)
