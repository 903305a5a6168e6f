"""A simulated kubelogin: `kubelogin get-token …` prints a credential that the rehearsal's API server knows.

The program knows the flags of Azure's (https://azure.github.io/kubelogin/cli/get-token.html) and writes what its
execCredentialWriter writes. Its user is the simulated subscription's client, whatever the login method. The program
runs by itself, once for each client, so it needs only Python.
"""

import argparse
import csv
import json
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NoReturn

_RUN: Final = "AKS_INFINIBAND_REHEARSAL"
_SERVER_ID: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The application ID of AKS's API servers, the same in every tenant (Azure, kubelogin concepts)."""
_ALONE: Final = ("azurecli", "azd", "spn", "msi", "workloadidentity", "azurepipelines")
"""Ways to log in without a person."""
_WITH_A_PERSON: Final = ("devicecode", "interactive", "ropc")
_FLAGS: Final = (
    "authority-host", "cache-dir", "client-certificate", "client-certificate-password", "client-id", "client-secret",
    "environment", "federated-token-file", "identity-resource-id", "password", "pop-claims", "redirect-url",
    "tenant-id", "token-cache-dir", "username",
)  # fmt: skip
_API_VERSIONS: Final = ("client.authentication.k8s.io/v1beta1", "client.authentication.k8s.io/v1")
_VALID_FOR: Final = timedelta(hours=1)
"""About as long as a token of Entra ID: 60 to 90 minutes (Microsoft, "Configurable token lifetimes")."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"Error: {message}\n")
        sys.exit(1)


def main(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Print an ExecCredential; 1, and why on stderr, when there is none."""
    parser = _Parser(prog="kubelogin")
    commands = parser.add_subparsers(dest="command", required=True)
    get_token = commands.add_parser("get-token", allow_abbrev=False)
    get_token.add_argument("-l", "--login", default="devicecode", choices=[*_ALONE, *_WITH_A_PERSON])
    get_token.add_argument("--server-id", default="")
    for flag in _FLAGS:
        get_token.add_argument(f"--{flag}")
    for flag in ("legacy", "pop-enabled", "use-azurerm-env-vars", "disable-instance-discovery"):
        get_token.add_argument(f"--{flag}", action="store_true")
    options = parser.parse_args(arguments)
    if not options.server_id:
        parser.error("server-id is required")
    if options.login in _WITH_A_PERSON:
        return _refuse(
            f"--login {options.login} waits for a person, who is not there: on Azure this would hang until it times "
            f"out. Log in with --login {_ALONE[0]} (or {', '.join(_ALONE[2:5])})."
        )
    run = environment.get(_RUN)
    if run is None:
        return _refuse(f"this kubelogin is a rehearsal's, and {_RUN}, which names the run folder, is not set")
    known = options.server_id == _SERVER_ID
    sys.stdout.write(json.dumps(_credential(_token(Path(run)) if known else secrets.token_urlsafe(), environment)))
    return 0


def _refuse(reason: str) -> int:
    sys.stderr.write(f"Error: failed to get token: {reason}\n")
    return 1


def _token(run: Path) -> str:
    """The client's token; without a cluster that uses Entra ID, a token that every API server refuses."""
    try:
        access = json.loads((run / "azure" / "access.json").read_text())
    except FileNotFoundError:
        return secrets.token_urlsafe()
    user = "entra:administrator" if access["administrator"] else "entra:user"
    with (run / "pki" / "tokens.csv").open() as file:
        return next(row[0] for row in csv.reader(file) if row[1] == user)


def _credential(token: str, environment: Mapping[str, str]) -> dict[str, object]:
    asked = json.loads(environment.get("KUBERNETES_EXEC_INFO") or "{}").get("apiVersion")
    expires = (datetime.now(UTC) + _VALID_FOR).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "kind": "ExecCredential",
        "apiVersion": asked if asked in _API_VERSIONS else _API_VERSIONS[0],
        "spec": {"interactive": False},
        "status": {"expirationTimestamp": expires, "token": token},
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
