"""Kubeconfigs that people write by hand: whatever stands in one is read, or refused by its key, without its value."""

import base64
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml
from aks_infiniband.access.kubeconfig import KubeconfigError
from aks_infiniband.access.kubeconfig_file import read_kubeconfig

CA = base64.b64encode(trustme.CA().cert_pem.bytes()).decode()
GOOD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "lab",
    "clusters": [{"name": "lab", "cluster": {"server": "https://lab:6443", "certificate-authority-data": CA}}],
    "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "me", "namespace": "x"}}],
    "users": [
        {
            "name": "me",
            "user": {
                "token": "s3cret",
                "client-key-data": "czNjcmV0",
                "exec": {
                    "apiVersion": "client.authentication.k8s.io/v1beta1",
                    "command": "sh",
                    "args": ["s3cret"],
                    "env": [{"name": "A", "value": "s3cret"}],
                },
            },
        }
    ],
}
VALUES: list[Any] = [None, 7, True, "s3cret", "", [], ["s3cret"], {}, {"s3cret": 1}, [None], "s3cret" * 10_000]
FREE = {"apiVersion", "kind", "namespace"}
"""Keys that no program reads."""
SHOWN = {"name", "cluster", "user", "current-context", "command"}
"""Keys without secrets: names, and the program that logs in."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, (*path, key))


def holding(path: tuple[Any, ...], value: Any) -> Any:
    config = copy.deepcopy(GOOD)
    at = config
    for part in path[:-1]:
        at = at[part]
    at[path[-1]] = value
    return config


def refusal(folder: Path, text: str | bytes) -> str | None:
    file = folder / "kubeconfig"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    try:
        read_kubeconfig(str(file))
    except KubeconfigError as error:
        return str(error)
    return None


@pytest.mark.parametrize("path", list(places(GOOD)), ids=lambda path: ".".join(map(str, path)))
def test_a_value_of_another_kind_is_taken_or_told_without_itself(path: tuple[Any, ...], tmp_path: Path) -> None:
    refused = [refusal(tmp_path, yaml.safe_dump(holding(path, value))) for value in VALUES]
    for told in filter(None, refused):
        assert len(told.encode()) < 2000
        assert path[-1] in SHOWN or "s3cret" not in told
    if path[-1] not in FREE and len(path) < 5:
        assert any(refused)


@pytest.mark.parametrize("path", list(places(GOOD)), ids=lambda path: ".".join(map(str, path)))
def test_a_part_that_is_missing_is_taken_or_told(path: tuple[Any, ...], tmp_path: Path) -> None:
    config = copy.deepcopy(GOOD)
    at = config
    for part in path[:-1]:
        at = at[part]
    del at[path[-1]]
    told = refusal(tmp_path, yaml.safe_dump(config))
    assert told is None or "s3cret" not in told


def test_the_good_one_is_read(tmp_path: Path) -> None:
    assert refusal(tmp_path, yaml.safe_dump(GOOD)) is None


@pytest.mark.parametrize(
    "text",
    [
        "token: [s3cret",
        "token:\n\ts3cret",
        b"token: s3cret\xff",
        "*s3cret",
        "- s3cret",
        "s3cret",
        "[" * 100_000,
        "a: 1\na: 2",
    ],
)
def test_what_is_no_kubeconfig_is_told_without_its_content(text: str | bytes, tmp_path: Path) -> None:
    told = refusal(tmp_path, text)
    assert told is not None
    assert "s3cret" not in told


@pytest.mark.parametrize(
    "path", ["~no-such-user/config", "no-such-file", "/dev/zero", "/", "a\0b", "x" * 5000, "\ud800"]
)
def test_a_path_that_leads_nowhere_is_told(path: str) -> None:
    with pytest.raises(KubeconfigError, match="cannot be read"):
        read_kubeconfig(path)
