"""The engine's path to the simulator: a plugin folder in azure-native's place, and kubelogin on its PATH."""

import os
import shlex
import sys
from pathlib import Path
from typing import Final

from rehearsal.azure import kubelogin
from rehearsal.azure.provider import VERSION
from rehearsal.run.folder import ENVIRONMENT_VARIABLE

_LAUNCHER: Final = """#!/bin/sh
# The simulated Azure of a rehearsal is running already: say where, and stay until the engine ends this.
ready="${{{variable}:?is not set: it names the run folder}}/ready/azure"
port=$(sed -n 's/.*"port": *\\([0-9][0-9]*\\).*/\\1/p' "$ready") &&
[ -n "$port" ] || {{ echo "no simulated Azure is running for ${variable}" >&2; exit 1; }}
echo "$port"
exec sleep 2147483647
"""


def make_plugin_folder(plugins: Path) -> Path:
    """Write the plugin into a PULUMI_HOME's plugins folder, and return its folder.

    The engine must see `AKS_INFINIBAND_REHEARSAL`, its run folder. Nothing is written when it is there already.
    """
    folder = plugins / f"resource-azure-native-v{VERSION}"
    _write_program(folder / "pulumi-resource-azure-native", _LAUNCHER.format(variable=ENVIRONMENT_VARIABLE))
    return folder


def make_kubelogin(folder: Path) -> Path:
    """Write the simulated kubelogin into a folder, for the engine's PATH, and return the folder."""
    line = shlex.join([sys.executable, str(kubelogin.__file__)])
    _write_program(folder / "kubelogin", f'#!/bin/sh\n# The simulated kubelogin of a rehearsal.\nexec {line} "$@"\n')
    return folder


def _write_program(program: Path, text: str) -> None:
    if not program.exists() or program.read_text() != text:
        program.parent.mkdir(parents=True, exist_ok=True)
        draft = program.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(program)
