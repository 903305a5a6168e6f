"""The chart of the checks, as far as it can be seen without Helm: tests/rehearsal/helm_chart installs it."""

import json
import re
import tarfile
from collections.abc import Iterator
from io import BytesIO
from typing import Any, Final

import pytest
from aks_infiniband.facts.catalog import SIZES

from chart import sentinels
from chart.__main__ import chart, packed
from chart.common import ABSENT, EachPool, Fields, Items, Json, Literal, Node, Slot, common
from chart.documents import OfPools, validation
from chart.pools import Kind, alike, kinds, pool_of
from chart.schema import values_schema
from chart.sentinels import Parsed
from pages.schema import stack_file_schema

FEW: Final = ("Standard_HB176rs_v4", "Standard_ND96isr_H100_v5")
MARK: Final = re.compile(r"x(pool|size|number|digits|value|taint|class|secret|label|boards|image)x")


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    """The chart for a few sizes."""
    return chart(FEW, repository="https://forge.example/owner/name")


def resolved(node: Node, kind: Kind) -> Any:
    """A tree's document for a kind."""
    if isinstance(node, Slot):
        return node.values[kind]
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Json):
        return Parsed(resolved(node.inner, kind))
    if isinstance(node, Items):
        return [resolved(item, kind) for item in node.items]
    assert isinstance(node, Fields)
    entries = ((key, resolved(value, kind)) for key, value in node.entries.items())
    return {key: value for key, value in entries if value is not ABSENT}


def slots(node: Node) -> Iterator[Slot]:
    if isinstance(node, Slot):
        yield node
    elif isinstance(node, Fields):
        for value in node.entries.values():
            yield from slots(value)
    elif isinstance(node, Json):
        yield from slots(node.inner)
    elif isinstance(node, Items | EachPool):
        for item in node.items if isinstance(node, Items) else node.nodes:
            yield from slots(item)


def test_a_tree_says_of_each_kind_what_its_document_said() -> None:
    one, other, third = list(kinds(FEW))[:3]
    documents: dict[Kind, Any] = {
        one: {"a": 1, "b": [1, {"c": 2}], "d": {}, "e": Parsed({"f": 1})},
        other: {"a": 1, "b": [1, {"c": 3}], "d": {"g": 1}, "e": Parsed({"f": 2})},
        third: {"a": 1, "b": [1], "d": {}, "e": Parsed({"f": 2}), "h": True},
    }
    assert {kind: resolved(common(documents), kind) for kind in documents} == documents


def test_what_differs_is_kept_by_the_fewest_facts_that_decide_it() -> None:
    found = [document for document in validation(list(kinds(FEW))) if isinstance(document, OfPools)]
    (job,) = (document for document in found if document.key.kind == "Job")
    decided = [(slot, slot.depends_on()) for slot in slots(job.tree)]
    by = {names for _, names in decided}
    assert ("mode",) in by
    assert ("verdict",) in by
    assert ("like", "mode", "nic", "gpus", "classes", "count", "verdict", "image") not in by
    for slot, names in decided:
        seen: dict[tuple[str, ...], str] = {}
        for kind, value in slot.values.items():
            facts = tuple(kind.facts[name] for name in names)
            assert seen.setdefault(facts, repr(value)) == repr(value)


def test_no_mark_is_left_in_what_helm_writes_without_filling_it(files: dict[str, str]) -> None:
    for path, text in files.items():
        if path.startswith("templates/") and path.endswith(".yaml"):
            left = re.sub(r"\{\{.*?\}\}", "", text)
            assert MARK.search(left) is None, (path, MARK.search(left))
        if path.startswith("files/texts/"):
            assert MARK.search(text) is None, path


def test_the_values_have_the_declarations_of_the_settings() -> None:
    mine, settings = values_schema()["properties"], stack_file_schema()["definitions"]
    pool = mine["pools"]["items"]["properties"]
    assert pool["name"] == settings["PoolSettings"]["properties"]["name"]
    assert set(pool) - set(settings["PoolSettings"]["properties"]) == {"rdmaResource", "deviceClass"}
    assert mine["validation"]["properties"]["mode"] == settings["ValidationOptions"]["properties"]["mode"]
    assert "(?=" not in json.dumps(values_schema())
    assert all(value.get("description") for value in pool.values())


def test_the_same_commit_gives_the_same_archive(files: dict[str, str]) -> None:
    assert packed(files) == packed(dict(reversed(files.items())))
    with tarfile.open(fileobj=BytesIO(packed(files))) as archive:
        assert {name.partition("/")[0] for name in archive.getnames()} == {"aks-infiniband-checks"}


def test_the_archive_is_small(files: dict[str, str]) -> None:
    """Helm keeps it in the release's Secret: tests/rehearsal/helm_chart/test_templates.py."""
    assert len(packed(files)) < 230_000


def test_every_size_of_the_catalogue_is_like_one_of_which_documents_are_made() -> None:
    likes = alike(SIZES)
    assert set(likes) == set(SIZES)
    assert {kind.like for kind in kinds(SIZES)} == set(likes.values())
    assert likes["Standard_HB176-24rs_v4"] == "Standard_HB176rs_v4"


def test_a_pool_without_more_has_the_defaults_of_a_stack_file() -> None:
    pool = pool_of({"name": "a", "vmSize": "Standard_ND96isr_H100_v5", "count": 2})
    assert (pool.mode, pool.rdma_resource, pool.gpu_driver) == ("rdma-shared", "rdma/shared_ib", "operator")
    assert pool.node_selector == {"kubernetes.azure.com/agentpool": "a"}


def test_marks_are_replaced_longest_first() -> None:
    marks = [mark for mark, _ in sentinels.text_marks()]
    for at, mark in enumerate(marks):
        assert not [later for later in marks[at + 1 :] if mark in later]
