"""A person's shell in a rehearsal: the commands of the documents, with the real pulumi and kubectl."""

import os
import subprocess
import sys
from pathlib import Path

from rehearsal.session import Rehearsal


def shell(rehearsal: Rehearsal, script: str, *, folder: Path) -> str:
    """What a script prints; it must succeed. It runs in a folder of its own, with the stack selected.

    `pulumi` is the engine on the rehearsal's backend, and finds its project wherever it is called.
    """
    engine = rehearsal.engine()
    environment = {
        **engine.environ(),
        "KUBECONFIG": str(rehearsal.run.kubeconfig),
        "NO_PROXY": "127.0.0.1",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), engine.environ()["PATH"]]),
    }
    there = f"pulumi() {{ command pulumi --cwd '{rehearsal.project}' \"$@\"; }}"
    whole = f"set -euo pipefail\n{there}\npulumi stack select {rehearsal.stack} >/dev/null\n{script}"
    done = subprocess.run(
        ["bash", "-c", whole], check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
