"""Observations: NCCL's words and figures, the objects of the real operators, and the names of the field reports."""

import re
from collections.abc import Iterator
from typing import Any

_TELLING = re.compile(r"NET/|network|NCCL version|nNodes|proxy recv|nvls channels| via ")
"""Words of the lines in which NCCL names its transport, or that look as if they did."""
_PROCESS = re.compile(r"^\w+:(\d+):\d+ \[\d+\] ")
_ALL_REDUCE = re.compile(r"^ +(\d+) +\d+ +float +sum +-1 +([\d.]+) +([\d.]+) +([\d.]+)", re.MULTILINE)
_ROW = re.compile(r"^\| ([A-D]\d+[a-z]?) \|", re.MULTILINE)


def debug_log(text: str) -> dict[str, Any]:
    """An excerpt of a log: every channel, and each other telling line the first time that a process writes its like."""
    return {"excerpt": "".join(f"{line.rstrip()}\n" for line in _excerpt(text))}


def _excerpt(text: str) -> Iterator[str]:
    seen = set()
    for line in text.splitlines():
        process = _PROCESS.match(line)
        if process is None or not _TELLING.search(line):
            continue
        alike = process[1], re.sub(r"\d+", "0", line[process.end() :])
        if " via " in line or alike not in seen:
            yield line
        seen.add(alike)


def all_reduce(text: str) -> dict[str, Any]:
    """The rows of nccl-tests' table, out of place: bytes, microseconds, algorithm and bus bandwidth in GB/s."""
    rows = [[int(row[0]), *map(float, row[1:])] for row in _ALL_REDUCE.findall(text)]
    return {"columns": ["bytes", "microseconds", "algorithm-bandwidth", "bus-bandwidth"], "rows": rows}


def field_reports(text: str) -> dict[str, Any]:
    """The names of the rows, in their order."""
    return {"rows": _ROW.findall(text)}


def operators(text: str) -> dict[str, Any]:
    """The names that the real operators give to what they make, for policies with every part switched on."""
    parts = {part.split(maxsplit=2)[0]: part for part in text.split("\n## ")}
    return {"network-operator": _network_operator(parts["Network"]), "gpu-operator": _gpu_operator(parts["GPU"])}


def _network_operator(text: str) -> dict[str, Any]:
    named = [name for first, *_ in _rows(text) for name in _quoted(first)]
    states = text.partition("`.status.appliedStates` names:")[2].partition(";")[0]
    others = text.partition("Other ConfigMaps:")[2].partition(".")[0]
    return {
        # The driver's DaemonSet has a name per system and kernel; what is installed is an init container.
        "workloads": [name for name in named if "<" not in name and not name.startswith("install-")],
        "config-maps": [*re.findall(r"ConfigMap `([^`]+)`", text), *_quoted(others)],
        "states": re.findall(r"state-[A-Za-z-]+", states),
    }


def _gpu_operator(text: str) -> dict[str, Any]:
    daemon_sets: dict[str, Any] = {}
    for first, init, containers, *_ in _rows(text):
        validations = [f"{word}-validation" for word in re.findall(r"([a-z]+)-(?=,|validation)", init)]
        listed = re.findall(r"nvidia-[a-z-]+[a-z]", containers) if containers.startswith("nvidia") else []
        said = {"init": validations or [init] if init else [], "containers": listed}
        daemon_sets |= {name: {key: names for key, names in said.items() if names} for name in _quoted(first)}
    deployed = text.partition("gpu.deploy.{")[2].partition("}")[0].split(",")
    return {"daemon-sets": daemon_sets, "deploy-labels": deployed}


def _quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def _rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
