"""The doctor names what a recorded cluster shows and nothing else, and of a healthy one nothing at all."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.doctor import rendering
from aks_infiniband_cli.doctor.catalogue import catalogue
from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.unmeasured import to_measure
from rich.console import Console

from tests.unit.command_line.cases import CASES
from tests.unit.command_line.doctor.sick_clusters import HEALTHY, healthy, sick, symptoms_with_a_cluster

WORDS = "doctor-symptoms: "


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_cluster_yields_no_finding(name: str) -> None:
    assert [(found.symptom.id, found.evidence) for found in examine(healthy(name))] == []


@pytest.mark.parametrize("symptom", catalogue())
def test_a_cluster_that_shows_a_symptom_is_told_that_one_and_nothing_that_follows_from_it(symptom: str) -> None:
    found = examine(sick(symptom))
    assert {(diagnosis.symptom.id) for diagnosis in found} == {symptom}, [(d.symptom.id, d.evidence) for d in found]
    assert all(diagnosis.about and diagnosis.evidence and diagnosis.cause and diagnosis.fix for diagnosis in found)


def test_every_symptom_has_a_cluster_its_words_and_a_dated_source() -> None:
    assert symptoms_with_a_cluster() == set(catalogue())
    assert {name for name in CASES.by_rule() if name.startswith(WORDS)} == {f"{WORDS}{name}" for name in catalogue()}
    assert len(catalogue()) >= 40
    for symptom in catalogue().values():
        assert symptom.sources, symptom.id
        assert symptom.read.startswith("20"), symptom.id


def test_what_a_symptom_brings_with_it_is_in_the_catalogue_and_never_brings_it_back() -> None:
    known = catalogue()
    for symptom in known.values():
        assert set(symptom.brings) <= set(known), symptom.id
        assert [other for other in symptom.brings if symptom.id in known[other].brings] == [], symptom.id


def test_a_hundred_objects_of_one_kind_are_shortened_in_text_and_whole_in_the_document() -> None:
    [first, _] = examine(sick("gpus-without-rdma"))
    found = [replace(first, about=f"pod apps/train-{number}") for number in range(100)]
    assert "and 95 more of the kind" in rendering.answer(found, []).text
    assert "train-5" not in rendering.answer(found, []).text
    assert len(rendering.answer(found, []).document["findings"]) == 100


def test_a_cluster_that_could_be_read_in_part_is_called_fine_in_that_part_alone() -> None:
    assert rendering.answer([], []).text == "doctor: nothing of what the catalogue knows is wrong"
    said = rendering.answer([], ["DaemonSets: forbidden"]).text.splitlines()
    assert said == [
        "not looked at: DaemonSets: forbidden",
        "doctor: nothing of what the catalogue knows is wrong in what could be read",
    ]


def test_text_and_terminal_say_object_evidence_cause_and_fix() -> None:
    found = examine(sick("memlock"))
    console = Console(width=200, record=True, file=io.StringIO())
    answer = rendering.answer(found, ["nodes: forbidden"])
    console.print(answer.table)
    parts = ("pod apps/train-0", "ibv_reg_mr failed", "memory could not be locked", "LimitMEMLOCK")
    for text in (answer.text, console.export_text()):
        for part in (*parts, "not looked at: nodes"):
            assert part in text


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("part", ["status", "labels"])
def test_an_object_without_a_part_that_may_be_missing_is_no_traceback(name: str, part: str) -> None:
    """A cluster that others built, or that is being built, has objects without a status or a label."""
    for number, _ in enumerate(healthy(name).objects()):
        cluster = healthy(name)
        item: Any = list(cluster.objects())[number]
        (item if part == "status" else item["metadata"]).pop(part, None)
        assert isinstance(examine(cluster), list)


def test_replicas_of_a_service_that_take_whole_machines_without_infiniband_are_left_alone() -> None:
    cluster = sick("gpus-without-rdma")
    for pod in cluster.view.pods:
        for owner in pod["metadata"].get("ownerReferences") or []:
            owner["kind"] = "ReplicaSet"
    assert examine(cluster) == []


def test_the_transcript_of_the_page_is_what_the_command_prints() -> None:
    page = (Path(__file__).parents[4] / "docs" / "doctor.md").read_text(encoding="utf-8")
    said = rendering.answer(examine(sick("device-plugin-selectors")), []).text
    assert f"/kubeconfig\n{said}\n$ echo $?\n1\n" in page


def test_a_pool_that_nothing_has_measured_is_named_with_the_command_and_a_missing_stack_is_no_finding() -> None:
    snapshot = healthy("dev")
    assert to_measure(snapshot) == []
    snapshot.view.jobs.clear()
    told = "doctor: to measure the machines, too: aks-infiniband validate --pool ndh100"
    assert to_measure(snapshot) == [told]
    assert examine(snapshot) == []
    assert rendering.answer([], [], [told]).text.splitlines()[-1] == told
    for node in snapshot.view.nodes:
        labels: Any = node["metadata"]["labels"]
        for label in ("kubernetes.azure.com/agentpool", "agentpool"):
            labels.pop(label, None)
    assert [each.rpartition(" validate ")[2] for each in to_measure(snapshot)] == ["--selector LABEL=VALUE"]


def test_a_pool_that_replace_could_not_fill_again_is_told_with_its_case_and_the_command_that_continues() -> None:
    snapshot = sick("pool-short")
    [without] = examine(snapshot)
    assert (without.symptom.id, without.command) == (
        "pool-short",
        "kubectl get nodes -L kubernetes.azure.com/agentpool,node.kubernetes.io/instance-type",
    )
    waits = {"pool": "ndh100", "node": "aks-gone", "stage": "refill", "lines": [{"what": "no quota: QuotaExceeded"}]}
    others = [{**waits, "pool": "other"}, {**waits, "stage": "over"}, "by hand", {"stage": "refill", "pool": "ndh100"}]
    for cases, is_told in ((others, False), ([*others, waits], True)):
        document = {"schema_version": 1, "cases": cases}
        metadata = {"name": "replaced-machines", "namespace": "aks-infiniband-system"}
        history = {"kind": "ConfigMap", "metadata": metadata, "data": {"cases.json": json.dumps(document)}}
        snapshot.view.config_maps.append(history)
        [found] = examine(snapshot)
        assert (found.command == "aks-infiniband replace aks-gone") is is_told
        assert ("waits for another machine: no quota: QuotaExceeded" in found.cause) is is_told
        snapshot.view.config_maps.pop()
