"""The words of NCCL and CUDA on a rank that fails lead to the right node, in every release."""

import re
from typing import Any

from aks_infiniband.validation.payload.collective import failures as rank_failures
from aks_infiniband.validation.payload.collective.failures import (
    CAUSE,
    UNREACHED,
    explained,
)
from aks_infiniband.validation.payload.collective.nccl_log import warnings_of

from rehearsal.machines.gpu_libraries import cuda, nccl, nccl_log
from rehearsal.machines.gpu_libraries.simulation import Fabric
from tests.unit.field_recordings.recordings import excerpt, recorded
from tests.unit.validation.cases import CASES

FAILED = "ended with exit code 1"
LAST = "RuntimeError: NCCL error: remote process exited or there was a network error\nLast error:\n"


def test_every_entry_that_is_a_rank_is_read_by_a_case() -> None:
    others = {"ranks-results", "ranks-cuda-words", "ranks-port-error", "ranks-syn-dropped", "ranks-h100-pair"}
    read = {case.get("recording") for cases in CASES.by_rule().values() for _, case in cases}
    assert {entry["name"] for entry in recorded("ranks")} - read == others


def test_whose_link_failed_is_named_and_not_who_sent_to_it() -> None:
    own, peers = (warnings_of([line]) for line in excerpt("ranks-port-error").splitlines())
    mine, theirs = (explained(FAILED, own=True, output=LAST + warned[0], warned=warned) for warned in (own, peers))
    assert (mine["part"], theirs["part"], theirs["peer"]) == (CAUSE, UNREACHED, "node48")
    placed: Any = [{**mine, "node": "node48"}, {**theirs, "node": "node51"}]
    assert [failure["node"] for failure in rank_failures.culprits(placed)] == ["node48"]


def test_the_simulated_nccl_says_the_same_in_the_same_order() -> None:
    said = [line.partition("NCCL INFO ")[2] for line in excerpt("ranks-h100-pair").splitlines()]
    ranks: list[dict[str, Any]] = [{"node": node, "gpu": 0, "hcas": [], "ways": []} for node in ("one", "two")]
    fabric = Fabric("Socket", False, 3.1, 0.0)
    mine = [*nccl_log.opening([]), *nccl_log.met(0, ranks), *nccl_log.connecting(fabric, 0, ranks)]
    left_out = ("NET/Socket : GPU Direct", "New proxy", "cudaDriverVersion")
    real, simulated = ([shape(line) for line in lines if not line.startswith(left_out)] for lines in (said, mine))
    assert real == simulated


def shape(line: str) -> str:
    """Without versions, addresses and what is made up for every run."""
    return re.sub(r"0x[0-9a-f]+|[\d.]+(\+cuda[\d.]+|<0>)", "#", line)


def test_a_gpu_that_cannot_work_has_a_cause_by_every_word_that_cuda_has_for_it() -> None:
    for line in excerpt("ranks-cuda-words").splitlines():
        for form in ["RuntimeError: CUDA error: {}", "Last error:\nCuda failure {} '{}'"]:
            number, _, words = line.partition(" ")
            output = form.format(words) if form.count("{}") == 1 else form.format(number, words)
            assert rank_failures.likely_cause(FAILED, output) is not None


def test_the_simulated_libraries_have_the_real_ones_words() -> None:
    results = dict(line.split(" ", 1) for line in excerpt("ranks-results").splitlines())
    assert {code: nccl.ncclGetErrorString(int(code)).decode() for code in results} == results
    words = dict(line.split(" ", 1) for line in excerpt("ranks-cuda-words").splitlines())
    assert {code: cuda.cudaGetErrorString(int(code)).decode() for code in words} == words
