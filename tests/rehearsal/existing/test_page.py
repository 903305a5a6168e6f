"""The page "You have a cluster already", executed as it was written, in a cluster of Azure's guide."""

import re
from dataclasses import replace
from typing import Any, Final

import pytest

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.existing import by_hand
from tests.rehearsal.shell import shell
from tests.rehearsal.stacks.conftest import Stack
from tests.snippets import DOCS, snippets

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

PAGE: Final = "existing-cluster.md"
POOL: Final[dict[str, Any]] = {
    "count": 2,
    "vm_size": "Standard_ND96isr_H100_v5",
    "gpu_profile": {"driver": "None"},
    "node_taints": ["sku=gpu:NoSchedule"],
}
INIT: Final = """
pulumi() {
  if [ "$1 $2" = "stack init" ]; then return 0; fi
  command pulumi "$@"
}
"""
"""A rehearsal makes the engine's stack itself."""


@pytest.fixture(scope="module")
def stack(rehearse_ours: RehearseOurs, tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """The stack that the page makes, in the cluster of others."""
    theirs = by_hand.make_in_azure(rehearse_ours, tmp_path_factory.mktemp("by-hand"), {"ndh100": POOL})
    return Stack(replace(theirs.rehearsal, stack="lab"))


def plain(text: str) -> str:
    return " ".join(text.split())


def test_every_command_of_the_page_succeeds_and_prints_what_the_page_shows(stack: Stack) -> None:
    project = stack.rehearsal.project
    said = [shell(stack.rehearsal, INIT + block, folder=project, seconds=600) for block in snippets(PAGE, "sh")]
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    shown = re.findall(r"^```text\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in shown for line in block.splitlines()]
    assert lines
    assert [line for line in lines if plain(line) not in plain("\n".join(said))] == [], "\n".join(said)
    assert stack.verdicts() == {"ndh100": "pass"}
