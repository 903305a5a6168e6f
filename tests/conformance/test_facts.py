"""The facts are of the releases that the program installs, name their sources, and fail a test when they age."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.facts import releases

from tests.conformance.distil.__main__ import main
from tests.conformance.distil.charts import values
from tests.conformance.distil.originals import ORIGINALS
from tests.conformance.facts import FOLDER, GPU, GPU_LATER, NETWORK, NETWORK_LATER, definitions, facts, file_of
from tests.conformance.notation import schema_of, shorten

COMPONENTS = "network-operator-26.4.1/components.yaml"


def test_the_releases_are_those_that_the_program_installs() -> None:
    assert f"network-operator-{releases.NETWORK_OPERATOR_CHART.version}" == NETWORK
    assert f"gpu-operator-{releases.GPU_OPERATOR_CHART.version.removeprefix('v')}" == GPU
    later = releases.OPERATOR_RELEASES["26.7"]
    assert f"network-operator-{later.network_operator.chart.version}-rc.2" == NETWORK_LATER
    assert f"gpu-operator-{later.gpu_operator.chart.version.removeprefix('v')}" == GPU_LATER
    for release in (NETWORK, GPU, NETWORK_LATER, GPU_LATER):
        for file in (FOLDER / release).iterdir():
            source = facts(f"{release}/{file.name}")["source"]
            assert source["release"] == f"v{release.partition('-operator-')[2]}", file


def test_every_file_of_facts_is_of_an_original_and_names_it() -> None:
    assert {file for file in FOLDER.rglob("*") if file.is_file()} == {file_of(original.file) for original in ORIGINALS}
    for original in ORIGINALS:
        source = facts(original.file)["source"]
        assert re.fullmatch("[0-9a-f]{64}", source["sha256"])
        assert "origin" in source or (source["repository"] and re.fullmatch("[0-9a-f]{40}", source["commit"]))


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    """A folder with one original, which says what the facts do not."""
    (tmp_path / COMPONENTS).parent.mkdir()
    (tmp_path / COMPONENTS).write_text("Multus: {repository: registry/x, image: multus, version: v2}\n")
    return tmp_path


def test_facts_that_are_out_of_date_are_said_to_be(originals: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = file_of(COMPONENTS).read_bytes()
    assert main(["--check", str(originals)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert f"out of date: {COMPONENTS}" in said
    assert said[-1] == f"1 of {len(ORIGINALS)} originals compared, 1 with other facts"
    assert sum(line.startswith("not compared: ") for line in said) == len(ORIGINALS) - 1
    assert file_of(COMPONENTS).read_bytes() == before


def test_a_folder_without_originals_is_no_proof(tmp_path: Path) -> None:
    assert main(["--check", str(tmp_path)]) == 1


def test_facts_are_written_with_their_source_and_then_current(
    originals: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    monkeypatch.setattr("tests.conformance.facts.FOLDER", folder)
    monkeypatch.setattr("tests.conformance.distil.__main__.FOLDER", folder)
    assert main([str(originals)]) == 0
    written = yaml.safe_load((folder / COMPONENTS).read_text())
    assert written["images"] == {"Multus": "registry/x/multus:v2"}
    assert written["source"]["release"] == "v26.4.1"
    assert main(["--check", str(originals)]) == 0


def test_no_text_of_the_definitions_is_kept() -> None:
    """Facts are names, types and bounds; their authors' explanations are not copied."""
    kept = [file for file in FOLDER.rglob("*.yaml") if re.search(r"[Dd]escription|openAPIV3Schema", file.read_text())]
    assert kept == []
    assert sum(file.stat().st_size for file in FOLDER.rglob("*.yaml")) < 220_000


def test_a_schema_is_the_same_after_it_was_shortened() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "required": ["name"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string", "pattern": "^a", "minLength": 1},
            "count": {"type": "integer", "minimum": 0, "default": 1},
            "way": {"type": "string", "enum": ["in", "out"]},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "any": {"type": "object", "additionalProperties": True},
            "free": {"type": "object"},
            "lists": {"type": "array", "default": [], "items": {"type": "array", "items": {"type": "boolean"}}},
            "size": {"type": ["integer", "string"]},
        },
    }
    definition = {**schema, "description": "words", "properties": dict(schema["properties"])}
    definition["properties"]["any"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    definition["properties"]["size"] = {"x-kubernetes-int-or-string": True, "anyOf": [], "description": "words"}
    assert schema_of(shorten(definition)) == schema


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "oneOf": []},
        {"description": "a value without a type"},
        {"type": "object", "properties": {"$x": {"type": "string"}}},
        {"type": "object", "required": ["missing"]},
    ],
)
def test_what_the_notation_has_no_word_for_is_an_error(schema: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"no word for|does not have"):
        shorten(schema)


def test_values_are_found_by_their_paths_also_where_they_stand_in_a_comment() -> None:
    text = 'a:\n  b.c/d: 1\n  # e: []\n  # Not: a value\n  f:\n    g: {}\n  #h: ""\ni: null\n'
    assert values(text) == {"defaults": {r"a.b\.c/d": 1, "a.f.g": {}, "i": None}, "commented-out": ["a.e", "a.h"]}


def test_every_definition_of_the_stored_kinds_is_there_once() -> None:
    kinds = [(definition["group"], definition["names"]["kind"]) for definition in definitions().values()]
    assert len(kinds) == len(set(kinds)) == 20
    later = definitions("26.7").keys() - definitions().keys()
    assert later == {"gpuclusters.nvidia.com"}
