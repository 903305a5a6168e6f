"""The catalogue of words: every entry is whole, has its own answer, and no pattern reads over two sentences."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.diagnosis.azure import azure_findings, is_transient
from aks_infiniband.facts import words
from aks_infiniband.facts.words import azure
from aks_infiniband.validation.payload.collective.failures import CAUSE, FOLLOWED, UNREACHED, explained
from aks_infiniband.validation.payload.programs import words as in_pods
from aks_infiniband_cli.doctor.catalogue import catalogue

from pages.__main__ import WORDS
from tests.held_out.answers import FILES, answers

ALL = (*words.PROGRAMS, *words.TOOLS, *words.REFUSALS, *words.ENDS, *words.SYMPTOMS)


def test_an_entry_has_a_cause_a_source_and_a_date() -> None:
    for entry in ALL:
        assert re.compile(entry.words)
        assert entry.cause
        assert entry.sources
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", entry.read)


def test_every_symptom_of_an_entry_is_one_that_the_doctor_has() -> None:
    assert {entry.id for entry in words.SYMPTOMS if entry.id} <= set(catalogue())


def test_the_pods_part_is_the_catalogues() -> None:
    assert WORDS.read_text(encoding="utf-8") == words.for_pods(), "run make docs"
    assert len(in_pods.RANKS) == len((*words.PROGRAMS, *words.VERBS, *words.GPUS, *words.NCCL))


FORMS = [
    "NET/IB : Got completion from peer 10.0.0.4<4711> with error {number}, opcode 0, len 0, vendor err 129",
    "NET/IB: Got completion from peer 10.0.0.4<4711> with status={number} opcode=0 len=0 vendor err 129",
    "NET/IB: Got completion from peer 10.0.0.4<4711> with status=IBV_WC_{name}_ERR({number}) opcode=IBV_WC_SEND(0)",
    "NET/IB: mlx5_0: Got completion with error (devIndex=0, wc->status=(IBV_WC_{name}_ERR){number}, wc->opcode=(X)0)",
]
NAMES = {1: "LOC_LEN", 4: "LOC_PROT", 5: "WR_FLUSH", 10: "REM_ACCESS", 12: "RETRY_EXC", 13: "RNR_RETRY_EXC"}


def test_a_status_of_a_completion_has_its_own_entry_or_none() -> None:
    for form in FORMS:
        for number in range(1, 24):
            line = form.format(number=number, name=NAMES.get(number, "ANY"))
            found = [entry["cause"] for _, entry in in_pods.statuses_in(line)]
            assert found == ([str(words.STATUSES[number])] if number in words.STATUSES else [])


def test_the_parts_of_ranks_are_those_of_the_catalogue() -> None:
    assert {entry.part for entry in (*ALL, *words.STATUSES.values())} == {CAUSE, UNREACHED, FOLLOWED}


HARMLESS = (Path(__file__).parent / "harmless_lines.txt").read_text(encoding="utf-8").splitlines()
"""Lines that images and programs of others print when all is well, or when their own code is wrong."""


def test_a_harmless_line_of_a_program_of_others_is_no_fault_of_the_hardware() -> None:
    for line in HARMLESS:
        assert words.found_in(line, words.HARDWARE) is None


def test_what_only_our_programs_may_say_explains_no_program_of_others() -> None:
    said = ["CUDA out of memory. Tried to allocate 2 GiB", "bind: address already in use", "No space left on device"]
    assert [words.found_in(line, words.HARDWARE) for line in said] == [None, None, None]
    assert all(explained("x", own=True, output=line)["cause"] != line for line in said)


CODES = [(code, entry) for entry in azure.ERRORS if not entry.with_ for code in sorted(entry.codes)]


def test_a_code_of_azures_leads_to_its_entry() -> None:
    for code, entry in CODES:
        body = f'Status=400 Code="{code}" Message="Nothing more is said."'
        assert azure.error_in(body) is entry
        assert is_transient(body) is (entry.kind == "passes")


def test_an_entry_of_azures_is_whole() -> None:
    for entry in azure.ERRORS:
        assert entry.codes or entry.says or entry.exit
        assert not entry.with_ or entry.codes
        assert entry.sources
        assert entry.kind in ("lasts", "passes", "later", "ours")
        assert not (entry.kind == "passes" and not entry.command)


def test_an_exit_status_of_a_new_machine_is_in_one_entry() -> None:
    counted = Counter(status for entry in azure.ERRORS for status in entry.exit)
    assert set(counted.values()) == {1}
    for status in counted:
        body = f"VMExtensionProvisioningError vmssCSE: command terminated with exit status={status}"
        (finding,) = azure_findings(body, {})
        assert "did not join" not in str(finding.cause), "the general entry hides no particular one"


@pytest.mark.parametrize(
    "body",
    [
        'Code="OperationNotAllowed" Message="Take another region. The operation is described there."',
        'Code="Conflict" Message="It is not possible. Your upgrade is in progress. The operation has an ID."',
        'Code="BadRequest" Message="The quota was approved. See another page."',
        "Drain is over. Node x failed. It was when evicting pod y",
    ],
)
def test_no_pattern_is_read_over_two_sentences(body: str) -> None:
    assert azure.error_in(body) is None


def test_what_azure_does_not_understand_is_said_to_be_ours() -> None:
    (finding,) = azure_findings('Code="InvalidRequestContent" Message="Could not find member x"', {})
    assert "the fault is ours" in str(finding.cause)


@pytest.mark.parametrize("file", FILES)
def test_words_that_the_catalogue_was_not_written_by_do_not_mislead(file: str) -> None:
    found = [each for each in answers() if each.file == file]
    apart = [each for each in found if "changed" not in each.case]
    assert [each.case["words"] for each in found if each.verdict == "wrong"] == []
    assert sum(each.verdict == "right" for each in apart) >= 0.9 * len(apart)
    assert len(apart) >= (20 if file == "environment" else 30)
    sources: Any = [each.case["source"] for each in found]
    assert all(sources)
