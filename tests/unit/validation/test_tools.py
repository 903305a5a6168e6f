"""Tools are found or installed, programs end at their limit, counters are compared, baselines have their sources."""

import sys
import time
from pathlib import Path

import pytest
from aks_infiniband.facts.baselines import FIGURES, GivenThreshold
from aks_infiniband.facts.baselines.choice import BASELINES, baselines_of, thresholds
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.look.counters import read_counters
from aks_infiniband.validation.payload.look.node import PROGRAMS
from aks_infiniband.validation.payload.programs.install import PACKAGES, versions
from aks_infiniband.validation.payload.programs.process import Ended, run_to_end


def test_every_tool_has_a_package_with_every_package_manager() -> None:
    for packages in PACKAGES.values():
        assert {*PROGRAMS, "sockperf", "ibstat"} <= set(packages)


def test_versions_are_those_that_the_tools_say() -> None:
    said = {"ib_write_bw": "Version: 6.06\n", "sockperf": "sockperf, version 3.7-no.git \n   compiled 2021-08-23"}
    found = versions(said, execute=lambda command, _: Ended(command[0], 0, said[command[0]], None))
    assert found == {"ib_write_bw": "6.06", "sockperf": "3.7-no.git"}


def test_a_program_that_hangs_is_killed_with_all_it_started() -> None:
    began = time.monotonic()
    ended = run_to_end(
        ["sh", "-c", "echo started; sleep 120 & wait"], 3.0
    )  # a shell says so within the time, however busy
    assert time.monotonic() - began < 60
    assert (ended.code, ended.output) == (None, "started\n")
    assert "did not end within 3 s and was killed" in str(ended.error)


def test_a_program_that_is_not_there_is_an_error_in_words() -> None:
    assert run_to_end(["/no/such/tool"], 1).error == "tool could not be started: No such file or directory"


def test_a_programs_last_words_are_in_its_error() -> None:
    ended = run_to_end(
        [sys.executable, "-c", "print('-----'); print('Couldn\\'t listen to port 1'); raise SystemExit(3)"], 10
    )
    assert ended.error is not None
    assert ended.error.endswith("ended with code 3: Couldn't listen to port 1")


def test_counters_of_infiniband_ports_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "class/infiniband/mlx5_ib0/ports/1/counters"
    folder.mkdir(parents=True)
    (folder / "symbol_error").write_text("3\n")
    (folder / "port_rcv_errors").write_text("nonsense\n")
    assert read_counters(tmp_path / "class/infiniband") == {"mlx5_ib0": {"symbol_error": 3}}
    assert read_counters(None) == {}


def test_every_baseline_says_what_it_is_of_and_where_it_is_from() -> None:
    for row in BASELINES:
        assert row.figure in FIGURES
        assert row.source
        assert set(row.vm_sizes) <= set(SIZES)
        assert row.warn is not None or row.fail is not None
        limits = [limit for limit in (row.expected, row.warn, row.fail) if limit is not None]
        assert limits == sorted(limits, reverse=FIGURES[row.figure].better == "higher")


@pytest.mark.field_report("C4")
def test_every_size_has_an_rdma_floor_that_its_links_can_reach() -> None:
    for size in sorted(SIZES):
        found = thresholds(SIZES[size], ["rdma-write-bandwidth", "rdma-read-bandwidth"])
        rate = SIZES[size].infiniband.rate_gbps
        for bounds in found.values():
            # For GB300 no more than 449 of 800 Gb/s were published; a port at half of its rate carries less than half.
            least = 0.78 if size == "Standard_ND40rs_v2" else 0.5 if "GB300" in size else 0.9
            assert least * rate <= bounds["fail"] < bounds["warn"] <= 0.95 * rate
            assert bounds["basis"] in ("measured", "quoted", "computed")


def test_a_floor_that_nobody_published_is_labelled_as_computed() -> None:
    found = thresholds(SIZES["Standard_HB176rs_v4"], ["rdma-write-bandwidth"])["rdma-write-bandwidth"]
    assert (found["basis"], found["warn"], found["fail"]) == ("computed", 374.0, 360.0)
    assert found["source"] == "93.5% and 90% of one port's 400 Gb/s"
    assert [row for row in baselines_of(SIZES["Standard_HB176rs_v4"]) if row.figure == "all-reduce"] == []


def test_the_stack_file_replaces_limits_and_the_threshold_says_so() -> None:
    given = {"rdma-write-bandwidth": GivenThreshold(fail=300, warn=350)}
    found = thresholds(SIZES["Standard_ND96isr_H100_v5"], ["rdma-write-bandwidth", "rdma-read-bandwidth"], given)
    assert {name: found["rdma-write-bandwidth"][name] for name in ("warn", "fail", "basis", "source", "unit")} == {
        "warn": 350,
        "fail": 300,
        "basis": "given",
        "source": "the stack file",
        "unit": "Gb/s",
    }
    assert found["rdma-read-bandwidth"]["basis"] == "quoted"
