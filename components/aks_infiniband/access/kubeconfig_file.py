"""The kubeconfig of a cluster that somebody else made: found, checked, and cut down to one context."""

import base64
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import pulumi
import yaml

from aks_infiniband.access.kubeconfig import KubeconfigError, document, interactive

_EMBEDDED: Final = ("certificate-authority", "client-certificate", "client-key")
"""Keys that name a file whose content a kubeconfig may hold itself, under the same key with -data (client-go)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class KubeconfigFile:
    """One context of a kubeconfig."""

    kubeconfig: str
    """YAML with this context only, files embedded; it holds credentials: hand it on as a secret."""
    context: str
    """Name of the context."""
    server: str
    """URL of the API server."""

    @property
    def cluster_identifier(self) -> str:
        """Identifies the cluster to the Kubernetes provider: new credentials do not change it, a new address does."""
        return self.server


def read_kubeconfig(path: str, *, context: str | None = None, folder: Path | None = None) -> KubeconfigFile:
    """One context of a kubeconfig file.

    path: ~ is the home folder; a relative one starts at folder.
    context: the file's current one where not given.
    folder: the project's; the working folder where not given.

    Raises KubeconfigError: no such file, not a kubeconfig, no such context, a login that waits for a person, or, in a
    real update, a credential plugin that is not there.
    """
    file = (folder or Path.cwd()) / Path(path).expanduser()
    given = _parsed(file)
    chosen = context or given.get("current-context")
    if not chosen:
        raise KubeconfigError(f"{file} has no current-context; name one of its contexts: {_names(given, 'contexts')}")
    parts = _named(given, "contexts", chosen, file)["context"]
    cluster = dict(_named(given, "clusters", parts.get("cluster"), file)["cluster"])
    user = dict(_named(given, "users", parts.get("user"), file).get("user") or {})
    if not cluster.get("server"):
        raise KubeconfigError(f"{file}: cluster {parts['cluster']} has no server")
    _require_login(file, parts["user"], user)
    kubeconfig = document(chosen, _self_contained(cluster, file), _self_contained(user, file))
    return KubeconfigFile(kubeconfig=kubeconfig, context=chosen, server=str(cluster["server"]))


def _parsed(file: Path) -> Mapping[str, Any]:
    try:
        given = yaml.safe_load(file.read_text())
    except OSError as error:
        raise KubeconfigError(
            f"the kubeconfig {file} cannot be read: {error.strerror}; existingCluster.kubeconfig says where it is"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"{file} is not a kubeconfig: {error}") from error
    if not isinstance(given, Mapping) or not all(isinstance(given.get(key), list) for key in ("clusters", "contexts")):
        raise KubeconfigError(f"{file} is not a kubeconfig: it must be YAML with clusters, contexts and users")
    return given


def _names(given: Mapping[str, Any], kind: str) -> str:
    return ", ".join(str(entry.get("name")) for entry in given.get(kind) or []) or "none"


def _named(given: Mapping[str, Any], kind: str, name: str | None, file: Path) -> Mapping[str, Any]:
    entries: list[Mapping[str, Any]] = given.get(kind) or []
    for entry in entries:
        if entry.get("name") == name:
            return entry
    close = get_close_matches(str(name), [str(entry.get("name")) for entry in entries], n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise KubeconfigError(f"{file} has no {name!r} among its {kind}; {hint}there are: {_names(given, kind)}")


def _require_login(file: Path, name: str, user: Mapping[str, Any]) -> None:
    """Refuse a login that would hang, or that cannot start."""
    if reason := interactive(user):
        raise KubeconfigError(
            f"{file} logs user {name} in through {reason}, which waits for a person; "
            f"`kubelogin convert-kubeconfig --kubeconfig {file} --login azurecli` makes it one that does not"
        )
    command = (user.get("exec") or {}).get("command")
    if command and shutil.which(_beside(command, file)) is None and not pulumi.runtime.is_dry_run():
        raise KubeconfigError(f"{file} logs user {name} in with {command}, which is not on the PATH: install it")


def _beside(path: str, file: Path) -> str:
    """A path in a kubeconfig starts at the kubeconfig's folder; a plugin's bare name is looked for on the PATH."""
    return str(file.parent / path) if "/" in path else path


def _self_contained(section: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """A cluster or user that means the same wherever the kubeconfig lies."""
    found = dict(section)
    for key in _EMBEDDED:
        named = found.pop(key, None)
        if named and f"{key}-data" not in found:
            try:
                found[f"{key}-data"] = base64.b64encode((file.parent / named).read_bytes()).decode()
            except OSError as error:
                raise KubeconfigError(
                    f"{file}: {key} {file.parent / named} cannot be read: {error.strerror}"
                ) from error
    if "tokenFile" in found:
        # It is read anew whenever its token has been replaced, so it stays a file.
        found["tokenFile"] = str((file.parent / found["tokenFile"]).absolute())
    if "exec" in found:
        found["exec"] = {**found["exec"], "command": _beside(found["exec"]["command"], file)}
    return found
