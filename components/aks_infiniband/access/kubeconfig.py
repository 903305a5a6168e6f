"""Kubeconfigs that log in without a person; any other is refused with what to do instead."""

import base64
import itertools
import shutil
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final, Literal

import pulumi
import yaml

Login = Literal["azurecli", "spn", "msi", "workloadidentity"]
"""Ways in which kubelogin logs in without a person (Azure/kubelogin, "Login modes")."""

AKS_SERVER_ID: Final = "6dae42f8-4368-4678-94ff-3960e28e3630"
"""The application in Microsoft Entra ID that AKS's API servers belong to (AKS, "Use kubelogin")."""
_KUBELOGIN: Final = "kubelogin"
_INTERACTIVE: Final = ("devicecode", "interactive")
_EXEC_VERSION: Final = "client.authentication.k8s.io/v1beta1"
"""The version that kubelogin writes itself, and every client reads (Azure/kubelogin, pkg/internal/converter)."""
_INSTALL: Final = "install it (https://azure.github.io/kubelogin, or `az aks install-cli`)"


class KubeconfigError(pulumi.RunError):
    """A kubeconfig that is not there, or that a program cannot use without a person."""


def decode(encoded: str) -> str:
    """The kubeconfig that Azure hands out in base64, for a cluster with local accounts.

    Raises KubeconfigError if it would start a login, because a login hangs without a terminal.
    """
    text = base64.b64decode(encoded).decode()
    for user in yaml.safe_load(text).get("users", []):
        if reason := interactive(user["user"]):
            raise KubeconfigError(
                f"the cluster's kubeconfig logs user {user['name']} in through {reason}, which waits for a person; it "
                "must carry a certificate or token, or the cluster's login be one that kubelogin does by itself"
            )
    return text


def with_kubelogin(encoded: str, login: Login) -> str:
    """A kubeconfig for a cluster with Microsoft Entra ID: kubelogin fetches a token, and is never interactive.

    encoded: what Azure hands out, in base64. Azure's user logs in by device code, so only endpoint, certificate
    authority and tenant are taken from it. login: kubelogin's login method.
    """
    config = yaml.safe_load(base64.b64decode(encoded).decode())
    cluster = config["clusters"][0]
    args = [_KUBELOGIN, "get-token", "--login", login, "--server-id", AKS_SERVER_ID, *_directory(config, login)]
    return document(
        cluster["name"],
        cluster["cluster"],
        {
            "exec": {
                "apiVersion": _EXEC_VERSION,
                "command": args[0],
                "args": args[1:],
                "interactiveMode": "Never",
                "provideClusterInfo": False,
                "installHint": f"kubelogin is missing: {_INSTALL}",
            }
        },
    )


def document(name: str, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> str:
    """A kubeconfig with one context, its cluster and its user, all of one name."""
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": name, "cluster": dict(cluster)}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "users": [{"name": name, "user": dict(user)}],
        },
        sort_keys=False,
    )


def _directory(config: Mapping[str, Any], login: Login) -> list[str]:
    """Tenant and cloud. Only a service principal needs them as arguments; the other logins bring their own.

    Azure/kubelogin, converter: a tenant given with azurecli breaks a CLI that is logged in by managed identity (issue
    123).
    """
    if login != "spn":
        return []
    args = [str(arg) for arg in (config["users"][0]["user"].get("exec") or {}).get("args") or []]
    options = dict(itertools.pairwise(args))
    return [part for flag in ("--tenant-id", "--environment") if flag in options for part in (flag, options[flag])]


def require_kubelogin() -> None:
    """Refuse an update without kubelogin before anything is made; a preview gets a warning.

    Raises KubeconfigError.
    """
    if shutil.which(_KUBELOGIN) is not None:
        return
    reason = f"the API server requires a token of Microsoft Entra ID, and kubelogin is not on the PATH; {_INSTALL}"
    if not pulumi.runtime.is_dry_run():
        raise KubeconfigError(reason)
    pulumi.log.warn(f"{reason}: `pulumi up` needs it")


def interactive(user: Mapping[str, Any]) -> str | None:
    """The way in which a user's login waits for a person, in words; None if it does not."""
    if "auth-provider" in user:
        return "'auth-provider'"
    plugin: Mapping[str, Any] = user.get("exec") or {}
    command = PurePath(str(plugin.get("command", ""))).name.removesuffix(".exe")
    args = [str(arg) for arg in plugin.get("args") or []]
    if plugin.get("interactiveMode") == "Always":
        return f"'exec' of {command} in interactiveMode Always"
    if command == "kubectl-oidc_login" or (command == "kubectl" and args[:1] == ["oidc-login"]):
        return "'exec' of oidc-login, in a browser"
    if command == _KUBELOGIN and (mode := _login_mode(plugin, args)) in _INTERACTIVE:
        return f"'exec' of kubelogin with login {mode}"
    return None


def _login_mode(plugin: Mapping[str, Any], args: list[str]) -> str:
    """As kubelogin decides it: the flag, else AAD_LOGIN_METHOD, else devicecode (its package token)."""
    for flag, value in itertools.pairwise([*args, ""]):
        name, _, joined = flag.partition("=")
        if name in {"--login", "-l"}:
            return joined or value
    environment = {str(variable["name"]): str(variable["value"]) for variable in plugin.get("env") or []}
    return environment.get("AAD_LOGIN_METHOD", _INTERACTIVE[0])
