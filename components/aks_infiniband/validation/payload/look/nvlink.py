"""The state of a node's GPUs in the NVLink fabric of their rack, as nvidia-smi reports it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from ..programs.process import run_to_end

_SECONDS = 60.0
"""Limit for nvidia-smi, which takes seconds if it has to wake the GPUs."""
IN_ORDER = "Completed, Success"
"""A GPU that the fabric has taken in."""


class Nvlink(TypedDict):
    """The NVLink fabric as a node's GPUs see it. said: the reason why it is not known; None if it is."""

    gpus: list[str]
    """State and status of each GPU, such as `Completed, Success`."""
    domain: str | None
    """ClusterUUID.CliqueId, if all of them have the same; other nodes with it can be reached by NVLink."""
    said: str | None


def read_nvlink() -> Nvlink:
    """The output of `nvidia-smi -q`, which the container toolkit brings into containers with GPUs."""
    ended = run_to_end(["nvidia-smi", "-q"], _SECONDS)
    if ended.error:
        return {"gpus": [], "domain": None, "said": ended.error}
    return parse(ended.output)


def parse(output: str) -> Nvlink:
    """The part `Fabric` of each GPU in the output of `nvidia-smi -q`."""
    fabrics = list(_fabrics(output.splitlines()))
    gpus = [f"{fabric.get('State', 'N/A')}, {fabric.get('Status', 'N/A')}{_ill(fabric)}" for fabric in fabrics]
    domains = {f"{fabric.get('ClusterUUID', 'N/A')}.{fabric.get('CliqueId', 'N/A')}" for fabric in fabrics}
    domain = domains.pop() if len(domains) == 1 and set(gpus) == {IN_ORDER} else None
    if domain and re.match(r"[0-]+\.", domain):
        domain = None  # zeros: NVLink within the machine alone, as on H100
    return {"gpus": gpus, "domain": domain, "said": None if fabrics else "nvidia-smi -q says nothing of a fabric"}


def _ill(fabric: Mapping[str, str]) -> str:
    """Signs of ill health in a fabric that has taken a GPU in (nvidia-smi of driver 580)."""
    ill = {key: value for key, value in fabric.items() if key in _SOUND and value.lower() not in _SOUND[key]}
    told = [f"{key}: {value}" for key, value in ill.items()]
    return f" ({'; '.join(told)})" if told else ""


_UNKNOWN = ("n/a", "not supported", "unknown")
_SOUND = {
    "Summary": ("healthy", *_UNKNOWN),
    "Bandwidth": ("full", *_UNKNOWN),
    **dict.fromkeys(("Route Unhealthy", "Access Timeout Recovery"), ("false", "no", *_UNKNOWN)),
    "Incorrect Configuration": ("none", "false", *_UNKNOWN),
}
"""By line below Health, what a sound fabric says there, and what drivers say that do not know."""


def _fabrics(lines: Sequence[str]) -> Iterator[dict[str, str]]:
    """The keys below each line `Fabric`: those that are indented further, down to the next that is not."""
    inside: dict[str, str] | None = None
    depth = 0
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if inside is not None and indent <= depth:
            yield inside
            inside = None
        if line.strip() == "Fabric":
            inside, depth = {}, indent
        elif inside is not None and (pair := re.fullmatch(r"\s*(\w[\w ]*?)\s+: (.*\S)\s*", line)):
            inside.setdefault(pair[1], pair[2])
    if inside is not None:
        yield inside
