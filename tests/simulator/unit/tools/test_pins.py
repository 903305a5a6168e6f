"""The versions that are built fit each other, and the Python packages that use them."""

import itertools
import re
from pathlib import Path

import pytest

from rehearsal.tools import pins
from rehearsal.tools.pins import PROJECT, SOURCES


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.removeprefix("v").split("."))


def _python_pin(package: str) -> str:
    text = (PROJECT / "requirements.txt").read_text()
    match = re.search(rf"^{package}==(?P<version>[\d.]+)", text, re.MULTILINE)
    assert match, f"requirements.txt pins no {package}"
    return match["version"]


def test_the_kubernetes_sdk_is_not_newer_than_the_provider_that_is_built() -> None:
    assert _release(_python_pin("pulumi-kubernetes")) <= _release(pins.kubernetes_provider_version())


def test_the_python_sdk_and_the_engine_are_of_one_major_version() -> None:
    engine = _release(pins.version("pulumi", pins.PULUMI))
    assert _release(_python_pin("pulumi"))[0] == engine[0]


def test_kubernetes_and_its_staging_modules_are_of_one_release() -> None:
    minor_and_patch = pins.version("kubernetes", pins.KUBERNETES).removeprefix("v1.")
    replaced = re.findall(r"^\t(k8s\.io/\S+) => (k8s\.io/\S+) (v\S+)$", _go_mod("kubernetes"), re.MULTILINE)
    assert len(replaced) > 25
    assert {(old == new, version) for old, new, version in replaced} == {(True, f"v0.{minor_and_patch}")}


def _versions(module: str) -> dict[str, str]:
    """The versions that a module is built with; a replacement by another version is that version."""
    required = {path: version for path, (version, _) in pins.requirements(SOURCES / module / "go.mod").items()}
    replaced = re.findall(r"^\t(\S+) => \S+ (v\S+)$", _go_mod(module), re.MULTILINE)
    return required | {path: version for path, version in replaced if path in required}


@pytest.mark.parametrize("modules", list(itertools.combinations(pins.MODULES, 2)), ids="-".join)
def test_what_two_modules_share_is_of_one_version_and_so_compiled_once(modules: tuple[str, str]) -> None:
    first, second = (_versions(module) for module in modules)
    shared = {path for path in first.keys() & second.keys() if not path.startswith("github.com/pulumi/pulumi/")}
    assert len(shared) > 15
    assert {path: (first[path], second[path]) for path in shared if first[path] != second[path]} == {}


def test_every_pin_has_a_checksum() -> None:
    for module in pins.MODULES:
        checksums = (SOURCES / module / "go.sum").read_text()
        replaced = re.findall(r"^(?:replace |\t)(\S+) => \S+ v\S+$", _go_mod(module), re.MULTILINE)
        for path, (version, _) in pins.requirements(SOURCES / module / "go.mod").items():
            assert path in replaced or f"{path} {version}/go.mod h1:" in checksums, (module, path)


def test_a_provider_without_its_release_in_a_comment_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kubernetes-provider").mkdir()
    (tmp_path / "kubernetes-provider" / "go.mod").write_text(
        f"require {pins.KUBERNETES_PROVIDER} v4.0.0-2026 // indirect\n"
    )
    monkeypatch.setattr(pins, "SOURCES", tmp_path)
    with pytest.raises(pins.PinError, match="must end in // and its release, not 'indirect'"):
        pins.kubernetes_provider_version()


def test_a_module_that_is_not_required_is_an_error() -> None:
    with pytest.raises(pins.PinError, match=r"python/go\.mod requires no k8s\.io/kubernetes"):
        pins.version("python", pins.KUBERNETES)


def test_the_go_from_the_package_index_is_new_enough_for_every_module() -> None:
    _, _, version = pins.GO_PACKAGE.partition("==")
    assert _release(version) >= pins.go_version()


def _go_mod(module: str) -> str:
    return (SOURCES / module / "go.mod").read_text()
