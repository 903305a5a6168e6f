"""The view of libibverbs: read from genuine outputs of ibv_devinfo, and held against the kernel's."""

from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.look.verbs import ask_libibverbs, ports_of
from aks_infiniband.validation.payload.programs.install import Tools
from aks_infiniband.validation.payload.programs.process import Ended

TRANSCRIPTS = Path(__file__).with_name("transcripts")
ACTIVE = {"state": "PORT_ACTIVE", "link_layer": "InfiniBand"}
ALL_THERE = Tools((), (), None)


def transcript(name: str) -> str:
    return (TRANSCRIPTS / f"ibv_devinfo-{name}.txt").read_text()


def ending(code: int | None, output: str = "", error: str | None = None) -> Any:
    return lambda *_: Ended("ibv_devinfo", code, output, error)


def test_devices_that_cannot_be_opened_do_not_hide_the_one_that_can() -> None:
    assert ports_of(transcript("k8s-rdma-device-plugin-8")) == {"mlx4_2": [ACTIVE]}


def test_a_port_that_is_down_is_not_active_and_one_that_was_cut_off_is_not_there() -> None:
    ports = ports_of(transcript("deepep-60"))
    assert ports == {"mlx5_12": [{"state": "PORT_DOWN", "link_layer": "Ethernet"}], "mlx5_13": []}


def test_of_an_output_that_was_cut_short_no_port_is_made_up() -> None:
    for kept in range(0, 900, 90):
        found = ports_of(transcript("k8s-rdma-device-plugin-8")[:kept])
        assert all(len(ports) <= 1 for ports in found.values())
        assert ("mlx4_2" in found) is (kept > 130)


def test_lines_of_other_programs_between_do_not_count() -> None:
    text = transcript("k8s-rdma-device-plugin-8").replace("max_mtu:", "libibverbs: Warning: state is odd\nmax_mtu:")
    assert ports_of(text) == {"mlx4_2": [ACTIVE]}


def test_an_image_without_providers_shows_no_device() -> None:
    assert ports_of(transcript("infra-controller-5251")) == {}


def test_a_tool_that_ends_badly_has_still_said_what_it_sees() -> None:
    output = transcript("k8s-rdma-device-plugin-8")
    found = ask_libibverbs(ALL_THERE, execute=ending(255, output, "ended with code 255"))
    assert found == {"ports": {"mlx4_2": [ACTIVE]}, "said": "ended with code 255"}


@pytest.mark.parametrize("code", [None, -11])
def test_a_tool_that_hangs_or_crashes_has_seen_nothing(code: Any) -> None:
    assert ask_libibverbs(ALL_THERE, execute=ending(code, "", "why")) == {"ports": None, "said": "why"}


def test_a_tool_that_is_not_there_is_not_started() -> None:
    def never(*_: Any) -> Any:
        raise AssertionError

    missing = Tools(("ibv_devinfo",), (), "the image has no ibv_devinfo, and no tdnf or apt-get")
    assert ask_libibverbs(missing, execute=never) == {"ports": None, "said": missing.error}
    installed = Tools(("ibv_devinfo",), ("libibverbs-utils",), None)
    assert "ibv_devinfo is not in the package" in str(ask_libibverbs(installed, execute=never)["said"])
