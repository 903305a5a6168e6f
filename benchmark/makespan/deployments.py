"""The deployments that are compared, each as a project: our program, or the public guides' order, with a stack file."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from rehearsal.tools.paths import PROJECT

STACKS: Final = ("dev", "sriov", "ipoib", "mixed")
_GUIDES: Final = Path(__file__).parent / "guides"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One deployment to time."""

    stack: str
    """Name in the project's stack files."""
    first: bool
    """True if it is the subscription's first, so that the feature is to be registered."""
    guides: bool = False
    """True if it is done in the guides' order, and not by our program."""
    inbox: bool = False
    """True if the kernel's own InfiniBand driver takes OFED's place."""
    peermem: bool = False
    """True if HCAs reach GPUs by nvidia-peermem, as in the guides, and not by DMA-BUF as the stack files have it."""


def project(case: Case, folder: Path) -> Path:
    """The project that is deployed, made in a folder: a program with one stack file."""
    folder.mkdir(parents=True)
    program = _GUIDES if case.guides else PROJECT
    for file in (program / "__main__.py", program / "Pulumi.yaml"):
        shutil.copy(file, folder)
    stack = yaml.safe_load((PROJECT / f"Pulumi.{case.stack}.yaml").read_text())
    if case.inbox:
        stack["config"].setdefault("aks-infiniband:networkOperator", {})["driver"] = "inbox"
    if case.guides or case.peermem:
        for pool in stack["config"]["aks-infiniband:pools"]:
            pool.pop("gpuDirect", None)  # nvidia-peermem is the default
    shutil.copytree(PROJECT / "values", folder / "values")
    (folder / f"Pulumi.{case.stack}.yaml").write_text(yaml.safe_dump(stack))
    return folder


def cases() -> Iterator[Case]:
    """All that is compared."""
    for stack in STACKS:
        for first in (True, False):
            yield Case(stack=stack, first=first)
            yield Case(stack=stack, first=first, guides=True)
            if stack == "dev":
                yield Case(stack=stack, first=first, peermem=True)
                yield Case(stack=stack, first=first, inbox=True)
