"""The plugin folder by which the Pulumi engine finds the running simulator in azure-native's place."""

import os
from pathlib import Path
from typing import Final

from rehearsal.azure.provider import VERSION
from rehearsal.control_plane import ENVIRONMENT_VARIABLE

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
    launcher = folder / "pulumi-resource-azure-native"
    text = _LAUNCHER.format(variable=ENVIRONMENT_VARIABLE)
    if not launcher.exists() or launcher.read_text() != text:
        folder.mkdir(parents=True, exist_ok=True)
        draft = launcher.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(launcher)
    return folder
