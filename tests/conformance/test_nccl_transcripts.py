"""The parser of NCCL's words against genuine logs of NCCL 2.28.9 on two H200s; the arithmetic against nccl-tests."""

import pytest
from aks_infiniband.validation.payload.collective import nccl_log
from aks_infiniband.validation.payload.collective.nccl_log import Evidence
from aks_infiniband.validation.payload.collective.rank import algorithm_bandwidth, bus_bandwidth

from tests.conformance.facts import facts

FALL_BACK, NVLINK = "transcripts/nccl-debug-socket-fallback.txt", "transcripts/nccl-debug-nvlink.txt"


def excerpt(name: str) -> str:
    """The lines of a log that name, or seem to name, the transport with which NCCL connects."""
    text: str = facts(name)["excerpt"]
    return text


def read(name: str) -> Evidence:
    return nccl_log.read_log(excerpt(name))


@pytest.mark.field_report("C1")
def test_the_silent_fall_back_to_tcp_is_called_by_its_name() -> None:
    evidence = read(FALL_BACK)
    assert nccl_log.transport_name(evidence) == nccl_log.SOCKETS
    assert evidence["channels"] == {"NET/Socket receive": 4, "NET/Socket send": 4}
    assert evidence["devices"] == {}
    assert (evidence["ranks"], evidence["nodes"], evidence["library"]) == (2, 2, "NCCL 2.28.9+cuda13.0")


def test_nvlink_is_not_taken_for_sockets_although_nccl_names_sockets_as_its_network() -> None:
    evidence = read(NVLINK)
    assert evidence["network"] == "Socket"
    assert nccl_log.transport_name(evidence) == nccl_log.PEER_TO_PEER
    assert (evidence["ranks"], evidence["nodes"]) == (2, 1)


@pytest.mark.parametrize("name", [FALL_BACK, NVLINK])
def test_a_log_cut_off_anywhere_is_read_as_far_as_it_goes(name: str) -> None:
    text = excerpt(name)
    whole = nccl_log.read_log(text)
    for end in range(0, len(text), 97):
        part = nccl_log.read_log(text[:end])
        assert sum(part["channels"].values()) <= sum(whole["channels"].values())


def test_bandwidths_are_those_that_nccl_tests_prints() -> None:
    rows = facts("transcripts/nccl-tests-all-reduce.txt")["rows"]
    assert len(rows) == 4
    for size, microseconds, algorithm, bus in rows:
        seconds = microseconds / 1e6
        assert algorithm_bandwidth(size, seconds) == pytest.approx(algorithm, rel=2e-4)
        assert bus_bandwidth(size, seconds, 2) == pytest.approx(bus, rel=2e-4)
