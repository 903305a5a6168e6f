"""Queries registries for the images and charts that they have, as the kubelet's runtime does but without a login.

As in the OCI Distribution Specification 1.1, "Pulling manifests"; an anonymous token as in Docker's "Token
Authentication Specification" (both read 2026-11-22).
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final
from urllib.request import parse_http_list, parse_keqv_list

import httpx2

_KINDS: Final = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
"""The documents that a tag may lead to: for many platforms, or for one."""
_DOCKER_HUB: Final = "docker.io"
SECONDS: Final = 10.0
"""Limit for one answer."""


class RegistryError(Exception):
    """A registry gives no answer; the text says why. absent: whether the registry says that it lacks it."""

    def __init__(self, text: str, *, absent: bool = False) -> None:
        super().__init__(text)
        self.absent = absent


def host_of(reference: str) -> str:
    """The registry of an image; Docker Hub if the reference names none."""
    return parts_of(reference)[0]


def url_of(host: str) -> str:
    """The URL of a registry."""
    return f"https://{'registry-1.docker.io' if host == _DOCKER_HUB else host}"


class Registries:
    """Queries the registry that a reference names. The object is a context, which closes its connections at the end."""

    def __init__(self) -> None:
        self._client = httpx2.Client(follow_redirects=True, timeout=SECONDS)

    def __enter__(self) -> "Registries":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._client.close()

    def manifest(self, reference: str) -> Mapping[str, Any]:
        """A registry's manifest of an image or of a chart. Raises RegistryError."""
        host, repository, tag = parts_of(reference)
        with _told(host):
            manifest: Mapping[str, Any] = self._get(f"{url_of(host)}/v2/{repository}/manifests/{tag}")
            return manifest

    def digest(self, reference: str) -> str:
        """The current digest of a tag in a registry: of all platforms if there are several. Raises RegistryError."""
        host, repository, tag = parts_of(reference)
        with _told(host):
            answer = self._answer(f"{url_of(host)}/v2/{repository}/manifests/{tag}")
            return f"sha256:{hashlib.sha256(answer.content).hexdigest()}"

    def platforms(self, reference: str) -> frozenset[str]:
        """The platforms that an image is there for, such as linux/arm64. Raises RegistryError."""
        manifest, (host, repository, _) = self.manifest(reference), parts_of(reference)
        with _told(host):
            if "manifests" in manifest:
                platforms = [entry["platform"] for entry in manifest["manifests"] if "platform" in entry]
            else:
                platforms = [self._get(f"{url_of(host)}/v2/{repository}/blobs/{manifest['config']['digest']}")]
            return frozenset(f"{platform['os']}/{platform['architecture']}" for platform in platforms)

    def _get(self, url: str) -> Any:
        return self._answer(url).json()

    def _answer(self, url: str) -> httpx2.Response:
        headers = {"Accept": ", ".join(_KINDS)}
        response = self._client.get(url, headers=headers)
        scheme, _, challenge = response.headers.get("WWW-Authenticate", "").partition(" ")
        if response.status_code == httpx2.codes.UNAUTHORIZED and scheme.lower() == "bearer":
            wanted = parse_keqv_list(parse_http_list(challenge))
            if not (realm := wanted.pop("realm")).startswith("https://"):  # such as a service of this machine
                raise ValueError(f"its tokens are at {realm!r}")
            given = self._client.get(realm, params=wanted).raise_for_status().json()
            token = given.get("token") or given["access_token"]
            response = self._client.get(url, headers={**headers, "Authorization": f"Bearer {token}"})
        return response.raise_for_status()


@contextmanager
def _told(host: str) -> Iterator[None]:
    try:
        yield
    except httpx2.HTTPStatusError as error:
        raise _refusal(host, error.response.status_code) from error
    except httpx2.TransportError as error:
        raise RegistryError(f"{host} cannot be reached from here: {error or type(error).__name__}") from error
    except (httpx2.HTTPError, KeyError, TypeError, ValueError) as error:
        raise RegistryError(f"{host} does not answer as a registry: {type(error).__name__}: {error}") from error


def _refusal(host: str, status: int) -> RegistryError:
    if status == httpx2.codes.NOT_FOUND:
        return RegistryError(f"{host} has it not", absent=True)
    if status in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
        return RegistryError(f"{host} requires a login")
    return RegistryError(f"{host} answers {status}")


def parts_of(reference: str) -> tuple[str, str, str]:
    """Registry, repository, and tag or digest of an image, as container runtimes read a reference."""
    name, _, digest = reference.partition("@")
    path, _, last = name.rpartition("/")
    last, _, tag = last.partition(":")
    name = f"{path}/{last}" if path else last
    first, _, rest = name.partition("/")
    if rest and ("." in first or ":" in first or first == "localhost"):
        host, repository = first, rest
    else:
        host, repository = _DOCKER_HUB, name
    if host == _DOCKER_HUB and "/" not in repository:
        repository = f"library/{repository}"
    return host, repository, digest or tag or "latest"
