"""The simulated NVML returns what the real one was seen to return of an H100, at rest and under load."""

import ctypes
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.gpus import nvml as reader

from rehearsal.machines.gpu_libraries import load, nvml, simulation
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import dev_files, sys_files, write_files
from tests.unit.field_recordings.recordings import excerpt

FIRST = "0001:00:00.0"
LIKE = {"nvmlDeviceGetUUID": r"GPU-[0-9a-f-]{36}", "nvmlDeviceGetSerial": r"\d{13}"}
"""Values that differ from one GPU to the next."""
NEAR = {"nvmlDeviceGetPowerUsage": 0.02, "nvmlDeviceGetClockInfo(1)": 0.15, "nvmlDeviceGetTemperature(0)": 0.1}
"""Values that change from one moment to the next, and the share of the change."""
NOT_READ = ("nvmlDeviceGetRetiredPagesPendingStatus", "nvmlDeviceGetCurrentClocksThrottleReasons")
"""No program of ours calls these if there are newer ones."""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine of 8 H100."""
    hardware = hardware_of(size="Standard_ND96isr_H100_v5", machine="node", fabric="one")
    write_files(tmp_path / "sys", sys_files(hardware, ("nvidia",)))
    write_files(tmp_path / "dev", dict.fromkeys(dev_files(rdma=(), gpus=range(8), modules=("nvidia",)), ""))
    variables = {"NODE": "node", "POD_IP": "192.0.2.2", "MACHINE": tmp_path, "CONTAINER": tmp_path}
    for name, value in variables.items():
        monkeypatch.setenv(f"REHEARSAL_{name}", str(value))
    monkeypatch.setenv("AKS_INFINIBAND_REHEARSAL", str(tmp_path))
    monkeypatch.setattr(simulation, "work", simulation.Work())
    load.of_number.cache_clear()
    yield
    load.of_number.cache_clear()


def handle() -> ctypes.c_void_p:
    found = ctypes.c_void_p()
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(FIRST.upper().encode(), ctypes.byref(found)) == 0
    return found


def asked(call: str) -> tuple[int, str]:
    """The return value and the output of a function of the simulated library."""
    name, _, given = call.rstrip(")").partition("(")
    arguments = [int(number) for number in given.split(",") if number]
    function = getattr(nvml, name)
    if name in LIKE or name == "nvmlDeviceGetName":
        text = ctypes.create_string_buffer(96)
        return function(handle(), text, 96), text.value.decode()
    values = [ctypes.c_ulonglong() for _ in range(4 if name == "nvmlDeviceGetRemappedRows" else 1)]
    code = function(handle(), *arguments, *map(ctypes.byref, values))
    return code, ",".join(str(value.value) for value in values)


def lines(recording: str) -> list[Any]:
    found = [re.match(r"(\S+) (\d+) (.*)", line) for line in excerpt(recording).splitlines()]
    return [match.groups() for match in found if match and match[1] not in NOT_READ]


def test_at_rest() -> None:
    for call, code, value in lines("nvml-h100-idle"):
        assert_alike(call, code, value)


@pytest.mark.parametrize(("call", "code", "value"), lines("nvml-h100-load"))
def test_under_load(call: str, code: str, value: str) -> None:
    simulation.work.makes_products = True
    load.working().product_seconds(1.0)
    assert_alike(call, code, value)


def assert_alike(call: str, code: str, value: str) -> None:
    returned, gave = asked(call)
    assert returned == int(code)
    if call in LIKE:
        assert re.fullmatch(LIKE[call], value)
        assert re.fullmatch(LIKE[call], gave)
    elif call in NEAR:
        assert float(gave) == pytest.approx(float(value), rel=NEAR[call])
    elif not int(code):
        assert gave == value


def test_the_words_are_the_real_ones() -> None:
    words = dict(line.split(" ", 1) for line in excerpt("nvml-h100-words").splitlines())
    assert {code: nvml.nvmlErrorString(int(code)).decode() for code in words} == words
    assert nvml.nvmlDeviceGetHandleByPciBusId_v2(b"00ff:00:00.0", ctypes.byref(ctypes.c_void_p())) == 6


def test_the_payload_reads_from_it_what_the_real_one_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: nvml)
    found = reader.Nvml(FIRST)
    assert found.pcie == {"generation": 5, "width": 16, "most_generation": 5, "most_width": 16}
    assert found.memory == {"uncorrected": 0, "remapped": 0, "pending": False, "failed": False}
    assert (found.nvlinks, found.reasons, found.watts_limit, found.most_sm_clock) == (18, ["idle"], 700.0, 1980)
    assert (found.index, found.model) == (0, "NVIDIA H100 80GB HBM3")
