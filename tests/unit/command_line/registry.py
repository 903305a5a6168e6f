"""A loopback registry of images that answers as public ones do: an anonymous token, then manifests."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

_INDEX = "application/vnd.oci.image.index.v1+json"
_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
Reply = tuple[int, Any, Mapping[str, str]]


@dataclass
class Registry:
    """The registry has every image for amd64 and arm64, and those whose tag names an architecture for that alone.

    refusals: status by repository and tag, as a pattern. only: the architectures that there are, likewise. tokens: the
    URL for a token; empty: its own.
    """

    refusals: dict[str, int] = field(default_factory=dict)
    only: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tokens: str = ""
    asked: list[str] = field(default_factory=list)

    def answer(self, path: str, query: str, asked: Mapping[str, str]) -> Reply:
        """To a GET of a manifest, of an image's configuration or of a token."""
        if path == "/token":
            (scope,) = parse_qs(query)["scope"]
            return 200, {"token": f"for {scope}"}, {}
        found = re.fullmatch(r"/v2/(.+)/(manifests|blobs)/(.+)", path)
        assert found is not None, path
        repository, kind, tag = found.groups()
        scope = f"repository:{repository}:pull"
        if asked.get("Authorization") != f"Bearer for {scope}":
            tokens = self.tokens or f"https://{asked['Host']}/token"
            realm = f'Bearer realm="{tokens}",service="loopback",scope="{scope}"'
            return 401, {"errors": [{"code": "UNAUTHORIZED"}]}, {"WWW-Authenticate": realm}
        if kind == "blobs":
            return 200, {"os": "linux", "architecture": tag.removeprefix("sha256:")}, {}
        self.asked.append(f"{repository}:{tag}")
        for pattern, status in self.refusals.items():
            if re.search(pattern, self.asked[-1]):
                return status, {"errors": []}, {}
        return self._manifest(self.asked[-1], asked["Accept"])

    def _manifest(self, image: str, accepted: str) -> Reply:
        """A list of manifests, or the one of an image that is there for one platform."""
        assert {_INDEX, _MANIFEST} <= set(accepted.split(", "))
        if single := re.search(r"-(amd64|arm64)$", image):
            return 200, {"mediaType": _MANIFEST, "config": {"digest": f"sha256:{single[1]}"}}, {}
        there = next((found for pattern, found in self.only.items() if re.search(pattern, image)), ("amd64", "arm64"))
        entries = [{"platform": {"os": "linux", "architecture": each}} for each in there]
        attestation = {"platform": {"os": "unknown", "architecture": "unknown"}}
        return 200, {"mediaType": _INDEX, "manifests": [*entries, attestation]}, {}
