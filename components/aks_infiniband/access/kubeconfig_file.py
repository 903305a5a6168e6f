"""The kubeconfig of a cluster that others made: found, checked, and cut down to one context."""

import base64
import os
import re
import shutil
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

import pulumi
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from aks_infiniband.access.kubeconfig import KubeconfigError, document, interactive
from aks_infiniband.handwritten import HandwrittenError, content, read, shortened

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

    path: ~ is the home folder; a relative one starts at folder. context: by default the file's current one. folder: the
    project's; by default the working folder.

    Raises KubeconfigError: no such file, not a kubeconfig, no such context, a login that waits for a person, or, in a
    real update, a credential plugin or a token's file that is not there.
    """
    try:
        file = (folder or Path.cwd()) / Path(path).expanduser()
        given = read(file)
    except RuntimeError as error:
        raise KubeconfigError(f"the kubeconfig {path} cannot be read: such a home folder does not exist") from error
    except HandwrittenError as error:
        raise KubeconfigError(f"the kubeconfig {file} {error}") from error
    if not isinstance(given, dict) or not all(isinstance(given.get(key), list) for key in ("clusters", "contexts")):
        raise KubeconfigError(f"{file} is not a kubeconfig: it must be YAML with clusters, contexts and users")
    chosen = context or given.get("current-context")
    if not isinstance(chosen, str) or not chosen:
        raise KubeconfigError(f"{file} lacks a current-context; name one of its contexts: {_names(given, 'context')}")
    parts = _named(_Context, given, "context", chosen, file)
    cluster = _named(_Cluster, given, "cluster", parts["cluster"], file)
    user = _named(_User, given, "user", parts["user"], file)
    _require_login(file, parts["user"], user)
    whole = _self_contained(cluster, file)
    _require_certificates(file, parts["cluster"], whole)
    kubeconfig = document(chosen, whole, _self_contained(user, file))
    return KubeconfigFile(kubeconfig=kubeconfig, context=chosen, server=cluster["server"])


def text_of(given: str | None, *, context: str | None = None) -> str:
    """The kubeconfig that the Kubernetes provider uses (pulumi-kubernetes 4.27.0, provider.go), as text.

    given: its own: YAML, or a path. Without one it takes KUBECONFIG, or else the home folder's.

    Raises KubeconfigError.
    """
    if given is None:
        paths = [path for path in os.environ.get("KUBECONFIG", "").split(os.pathsep) if path]
        given = next((path for path in paths if Path(path).exists()), "~/.kube/config")
    if "\n" not in given and not given.lstrip().startswith("{"):
        return read_kubeconfig(given, context=context).kubeconfig
    if context is None:
        return given
    return yaml.safe_dump({**yaml.safe_load(given), "current-context": context})


def _base64(value: str) -> str:
    base64.b64decode("".join(value.split()), validate=True)  # raises ValueError
    return value


def _https(value: str) -> str:
    if not re.fullmatch(r"https://[^\s/@]+(/\S*)?", value):
        raise ValueError("must be the https:// URL of an API server")
    try:
        urlsplit(value).port  # noqa: B018 raises ValueError
    except ValueError:
        raise ValueError("must have a host, or [its IPv6 address], and a port up to 65535") from None
    return value


_Data = Annotated[str, AfterValidator(_base64)]


class _Part(BaseModel):
    """A part of a kubeconfig that is used, as client-go takes it (1.36, tools/clientcmd/api/v1 and validation.go).

    Other keys are handed on as they are.
    """

    model_config = ConfigDict(extra="allow", strict=True, alias_generator=lambda name: name.replace("_", "-"))


class _Context(_Part):
    cluster: str
    user: str


class _Cluster(_Part):
    server: Annotated[str, AfterValidator(_https)]
    certificate_authority: str | None = None
    certificate_authority_data: _Data | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: Annotated[str, Field(pattern=r"^((https?|socks5)://\S+)?$")] | None = None

    @model_validator(mode="after")
    def _checks_or_not(self) -> Self:
        if self.insecure_skip_tls_verify and (self.certificate_authority or self.certificate_authority_data):
            raise ValueError("must have insecure-skip-tls-verify or a certificate-authority, not both")
        return self


class _Variable(_Part):
    name: str
    value: str


class _Exec(_Part):
    command: Annotated[str, Field(min_length=1)]
    args: list[str] | None = None
    env: list[_Variable] | None = None
    apiVersion: Literal["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"]  # noqa: N815
    interactiveMode: Literal["Never", "IfAvailable", "Always"] | None = None  # noqa: N815

    @model_validator(mode="after")
    def _says_whether_it_asks(self) -> Self:
        if self.interactiveMode is None and self.apiVersion.endswith("/v1"):
            raise ValueError("must have an interactiveMode, such as Never, with this apiVersion")
        return self


class _User(_Part):
    exec: _Exec | None = None
    token: Annotated[str, Field(pattern=r"^[!-~]*$")] | None = None
    tokenFile: str | None = None  # noqa: N815  its name there
    client_certificate: str | None = None
    client_certificate_data: _Data | None = None
    client_key: str | None = None
    client_key_data: _Data | None = None

    @model_validator(mode="after")
    def _has_the_key(self) -> Self:
        certified = self.client_certificate or self.client_certificate_data
        if certified and not (self.client_key or self.client_key_data):
            raise ValueError("must have the client-key of its client-certificate")
        return self


def _entries(document: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    entries = document.get(f"{kind}s")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _names(document: Mapping[str, Any], kind: str) -> str:
    return ", ".join(str(entry.get("name"))[:60] for entry in _entries(document, kind)[:20]) or "none"


def _named(model: type[_Part], document: Mapping[str, Any], kind: str, name: str, file: Path) -> dict[str, Any]:
    """The entry under a name, read by the model. An error names no values, because one may be a secret."""
    named = next((entry for entry in _entries(document, kind) if entry.get("name") == name), None)
    if named is None:
        close = get_close_matches(name[:100], [str(entry.get("name")) for entry in _entries(document, kind)], n=1)
        hint = f"did you mean {close[0][:60]}? " if close else ""
        known = _names(document, kind)
        raise KubeconfigError(f"{file} has no {shortened(name)} among its {kind}s; {hint}there are: {known}")
    try:
        checked = model.model_validate({} if named.get(kind) is None else named[kind])
    except ValidationError as error:
        wrong = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(map(str, (f"{kind}s", name[:60], kind, *wrong["loc"])))
        reason = "must be a mapping" if wrong["type"] == "model_type" else wrong["msg"].removeprefix("Value error, ")
        raise KubeconfigError(f"{file}: {key} is not as it must be: {reason[:1].lower()}{reason[1:]}") from None
    return checked.model_dump(by_alias=True, exclude_none=True)


def _require_login(file: Path, name: str, user: Mapping[str, Any]) -> None:
    """Refuse a login that would hang, or that cannot start."""
    if reason := interactive(user):
        raise KubeconfigError(
            f"{file} logs user {name} in through {reason}, which waits for a person; "
            f"`kubelogin convert-kubeconfig --kubeconfig {file} --login azurecli` makes it one that does not"
        )
    command = (user.get("exec") or {}).get("command")
    if command and shutil.which(_beside(command, file)) is None and not pulumi.runtime.is_dry_run():
        raise KubeconfigError(f"{file} logs user {name} in with {command[:100]}, which is not on the PATH: install it")
    token = user.get("tokenFile")
    if token and not (file.parent / token).is_file() and not pulumi.runtime.is_dry_run():
        raise KubeconfigError(f"{file} logs user {name} in with tokenFile {file.parent / token}, which is not there")


def _require_certificates(file: Path, name: str, cluster: Mapping[str, Any]) -> None:
    """Refuse a certificate authority that is none. Kubernetes' clients would refuse it too, but Helm only after much
    has been made.
    """
    if encoded := cluster.get("certificate-authority-data"):
        try:
            ssl.create_default_context(cadata=base64.b64decode(encoded).decode("ascii"))
        except (ValueError, ssl.SSLError):
            what = f"{file}: the certificate-authority of cluster {name[:60]}"
            raise KubeconfigError(f"{what} holds no certificate in PEM, -----BEGIN CERTIFICATE-----") from None


def _beside(path: str, file: Path) -> str:
    """A path in a kubeconfig starts at the kubeconfig's folder; a plugin's bare name is looked for on the PATH."""
    return str(file.parent / path) if "/" in path else path


def _self_contained(section: Mapping[str, Any], file: Path) -> dict[str, Any]:
    """A cluster or user that means the same wherever the kubeconfig lies."""
    contained = dict(section)
    for key in _EMBEDDED:
        named = contained.pop(key, None)
        if named and f"{key}-data" not in contained:
            try:
                contained[f"{key}-data"] = base64.b64encode(content(file.parent / named)).decode()
            except HandwrittenError as error:
                raise KubeconfigError(f"{file}: {key} {file.parent / named} {error}") from error
    if "tokenFile" in contained:
        # The file is read again whenever its token has been replaced, so it stays a file.
        contained["tokenFile"] = str((file.parent / contained["tokenFile"]).absolute())
    if "exec" in contained:
        contained["exec"] = {**contained["exec"], "command": _beside(contained["exec"]["command"], file)}
    return contained
