"""Tools are found or installed, programs end at their limit, counters are compared, baselines have their sources."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.baselines import FIGURES, GivenThreshold
from aks_infiniband.facts.baselines.choice import BASELINES, baselines_of, thresholds
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.look.counters import growth, judge_counters, read_counters
from aks_infiniband.validation.payload.look.node import PROGRAMS
from aks_infiniband.validation.payload.programs.install import PACKAGES, ensure, versions
from aks_infiniband.validation.payload.programs.process import Ended, run_to_end


def which(*there: str) -> Any:
    return lambda name: f"/usr/bin/{name}" if name in there else None


def test_nothing_is_installed_where_everything_is_there() -> None:
    def execute(command: Any, _: float) -> Ended:
        raise AssertionError(command)

    found = ensure(["ib_write_bw"], 5, which=which("ib_write_bw", "tdnf"), execute=execute)
    assert (found.missing, found.installed, found.error) == ((), (), None)


@pytest.mark.parametrize("manager", sorted(PACKAGES))
def test_what_is_missing_is_installed_with_the_images_own_package_manager(manager: str) -> None:
    there, asked = {manager}, []

    def execute(command: Any, _: float) -> Ended:
        asked.append(list(command))
        if "install" in command:
            there.update({"ib_write_bw", "ibv_devinfo"})
        return Ended(command[0], 0, "", None)

    found = ensure(
        ["ib_write_bw", "ibv_devinfo"], 5, which=lambda name: name if name in there else None, execute=execute
    )
    assert (found.missing, found.error) == ((), None)
    assert set(PACKAGES[manager]["ib_write_bw"].split()) <= set(asked[-1])
    assert asked[-1][0] == manager


class Image:
    """An image with apt-get, as it was seen to behave (apt 2.6.1, Debian 12, 2026-11-22), and what the image holds."""

    def __init__(self, *, needs: str = "", holds: str = "ibverbs-providers") -> None:
        """needs: a package that perftest needs in a newer version; holds: one that apt does not replace by a newer."""
        self.programs, self.needs, self.holds = {"apt-get"}, needs, holds

    def which(self, name: str) -> str | None:
        return f"/usr/bin/{name}" if name in self.programs else None

    def __call__(self, command: Any, _: float) -> Ended:
        if "install" not in command:
            return Ended("apt-get", 0, "Reading package lists...\n", None)
        named = [word for word in command[command.index("install") + 1 :] if not word.startswith("-")]
        new = "".join(f"Inst {name} (44.0-2 Debian:12.15/oldstable [amd64])\n" for name in named if name != self.holds)
        if self.holds in named and "--no-upgrade" not in command:
            error = "E: Held packages were changed and -y was used without --allow-change-held-packages."
            said = f"The following held packages will be changed:\n  {self.holds}\n{error}\n"
            return Ended("apt-get", 100, said, f"apt-get ended with code 100: {error}")
        if self.needs and self.needs == self.holds:
            error = "E: Unable to correct problems, you have held broken packages."
            unmet = f" perftest : Depends: {self.needs} (= 44.0-2)"
            said = f"The following packages have unmet dependencies:\n{unmet}\n{error}\n"
            return Ended("apt-get", 100, said, f"apt-get ended with code 100: {error}")
        if self.needs:
            new += f"Inst {self.needs} [39.0-1] (44.0-2 Debian:12.15/oldstable [amd64])\n"
        if "--simulate" not in command:
            assert not self.needs, "an upgrade of what the image has"
            self.programs |= {tool for tool, packages in PACKAGES["apt-get"].items() if packages.split()[0] in named}
        return Ended("apt-get", 0, new, None)


@pytest.mark.field_report("R10")
def test_tools_are_added_beside_packages_that_the_image_holds() -> None:
    image = Image()
    found = ensure(PROGRAMS, 5, which=image.which, execute=image)
    assert (found.missing, found.error) == ((), None)


@pytest.mark.field_report("R10")
def test_packages_of_programs_that_are_there_are_not_asked_for() -> None:
    image, asked = Image(), []
    image.programs |= {"ibv_devinfo", "ibv_rc_pingpong"}

    def execute(command: Any, seconds: float) -> Ended:
        asked.append(command)
        return image(command, seconds)

    assert ensure(PROGRAMS, 5, which=image.which, execute=execute).installed == ("perftest",)
    assert not any("unhold" in word or "allow" in word for command in asked for word in command)


@pytest.mark.field_report("R10")
@pytest.mark.parametrize("image", [Image(needs="libibverbs1"), Image(needs="libibverbs1", holds="libibverbs1")])
def test_nothing_is_installed_that_would_change_what_the_image_has_and_the_way_out_is_named(image: Image) -> None:
    found = ensure(["ib_write_bw"], 5, which=image.which, execute=image)
    assert (found.missing, found.installed) == (("ib_write_bw",), ())
    assert found.error == (
        "perftest could not be installed: that needs libibverbs1 in another version than the image has or holds, and "
        "that stays as it is. Name an image that has the tools in validation.image"
    )


def test_every_tool_has_a_package_with_every_package_manager() -> None:
    for packages in PACKAGES.values():
        assert {*PROGRAMS, "sockperf", "ibstat"} <= set(packages)


@pytest.mark.field_report("C11")
def test_an_image_that_cannot_be_completed_is_said_to_be_so() -> None:
    failed = ensure(["sockperf"], 5, which=which("tdnf"), execute=lambda *_: Ended("tdnf", 1, "", "no network"))
    assert failed.missing == ("sockperf",)
    assert failed.error == "sockperf could not be installed: no network"
    assert "no tdnf or apt-get" in str(ensure(["sockperf"], 5, which=which()).error)


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


@pytest.mark.field_report("C12")
def test_a_link_that_goes_down_while_it_is_measured_fails_by_its_counter() -> None:
    before = {"mlx5_ib0": {"link_downed": 4, "port_rcv_errors": 0}, "mlx5_ib1": {"link_downed": 0}}
    after = {"mlx5_ib0": {"link_downed": 5, "port_rcv_errors": 90}, "mlx5_ib1": {"link_downed": 0}}
    grown = growth(before, after)
    assert grown == {"mlx5_ib0": {"link_downed": 1, "port_rcv_errors": 90}, "mlx5_ib1": {"link_downed": 0}}
    (check,) = judge_counters({"n0": grown}, "warn")
    assert (check["verdict"], check["node"], check["device"]) == ("fail", "n0", "mlx5_ib0")
    assert check["expected"] == "at most 0 more link_downed"


STILL = {"mlx5_ib0": {"symbol_error": 0}}


@pytest.mark.parametrize(("unread", "verdict"), [("enforce", "not measured"), ("warn", "warn")])
@pytest.mark.parametrize("unknown", [{}, {"mlx5_ib0": {}}, {**STILL, "mlx5_ib1": {}}])
def test_counters_that_cannot_be_read_are_told_of_their_node_and_why(unread: Any, verdict: str, unknown: Any) -> None:
    (check,) = judge_counters({"n0": STILL, "n1": unknown}, unread)
    assert (check["verdict"], check["node"]) == (verdict, "n1")
    assert "validation.errorCounters" in str(check["cause"])


def test_counters_that_stand_still_pass_and_where_nobody_looks_that_is_by_design() -> None:
    (check,) = judge_counters({"n0": STILL}, "enforce")
    assert check["verdict"] == "pass"
    (check,) = judge_counters({"n0": {}}, "off")
    assert (check["verdict"], check["cause"]) == ("not measured", None)


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
