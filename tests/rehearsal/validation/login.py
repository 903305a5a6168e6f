"""A login to the cluster that expires when a test says so, by a credential plugin as kubelogin is one."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from rehearsal.control_plane import ControlPlane

EXPIRED: Final = "AADSTS70043: The refresh token has expired or is invalid due to sign-in frequency checks"
"""The beginning of Microsoft Entra ID's words on it (Azure/azure-cli issue 16209, read 2026-11)."""
_PLUGIN: Final = """#!/bin/sh
[ -e {folder}/credential.json ] && exec cat {folder}/credential.json
echo "Error: failed to get token: {expired}" >&2
exit 1
"""
_VERSION: Final = "client.authentication.k8s.io/v1beta1"
_LONG_AGO: Final = "2000-01-01T00:00:00Z"
"""With a token that has expired already the plugin is called for every request."""


@dataclass(frozen=True)
class Login:
    """folder: a new one. control_plane: whose administrator it is."""

    folder: Path
    control_plane: ControlPlane

    def kubeconfig(self) -> str:
        """The kubeconfig that logs in so."""
        tokens = (self.control_plane.run.pki / "tokens.csv").read_text().splitlines()
        token = next(line.split(",")[0] for line in tokens if line.split(",")[1] == "entra:administrator")
        status = {"token": token, "expirationTimestamp": _LONG_AGO}
        credential: dict[str, Any] = {"apiVersion": _VERSION, "kind": "ExecCredential", "status": status}
        self._credential.touch(mode=0o600)
        self._credential.write_text(json.dumps(credential))
        plugin = self.folder / "login"
        plugin.write_text(_PLUGIN.format(folder=self.folder, expired=EXPIRED))
        plugin.chmod(0o700)
        document = yaml.safe_load(self.control_plane.kubeconfig.read_text())
        way = {"apiVersion": _VERSION, "command": str(plugin), "interactiveMode": "Never"}
        document["users"][0]["user"] = {"exec": way}
        return yaml.safe_dump(document)

    def expire(self) -> None:
        """From now on no login succeeds with it."""
        self._credential.unlink()

    @property
    def _credential(self) -> Path:
        return self.folder / "credential.json"
