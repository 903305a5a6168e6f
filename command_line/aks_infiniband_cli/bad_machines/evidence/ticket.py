"""The text for a support ticket."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband_cli.bad_machines.evidence.case import problems_of
from aks_infiniband_cli.bad_machines.evidence.dcgm import opinion

_UNKNOWN: Final = "not known"
_NONE: Final = "nothing that a measurement, the light check or the kernel's log has shown"


def ticket(case: Mapping[str, Any]) -> str:
    """The text to paste into a ticket: the machine's identity, its fault, and the figures of its neighbours."""
    return "\n".join(_lines(case))


def _lines(case: Mapping[str, Any]) -> Iterator[str]:
    yield f"A machine with InfiniBand does not perform: {case['node']} ({case['vm_size'] or 'size not known'})"
    yield ""
    yield f"Physical host: {case['physical_host_name'] or _UNKNOWN}"
    yield f"Resource ID:   {case['resource_id'] or _UNKNOWN}"
    yield f"VM ID:         {case['vm_id'] or _UNKNOWN}"
    yield f"Read on:       {case['taken']}, before any restart by us"
    yield ""
    yield "What is wrong:"
    yield from (f"- {line}" for line in problems_of(case) or [_NONE])
    if lower := [figure for figure in case["figures"] if figure["others"]]:
        yield ""
        measured = f"Measured on {case['measured_on']} by {case['measured_by']}"
        yield f"{measured}, compared with the median of the same device on the other nodes:"
        for figure in lower:
            yield f"- {figure['figure']} {figure['device']}: {figure['value']:g}, the others {figure['others']:g}"
    if earlier := case["measured_before"]:
        yield ""
        yield "Other measurements of the node:"
        yield from (f"- {one['told']}{f', {doubt}' if (doubt := one['doubt']) else ''}" for one in earlier)
    if decisions := case["decisions"]:
        yield ""
        yield "What was decided:"
        yield from (f"- {each['at']} {each['what']} by {each['by']}: {each['why']}".rstrip(": ") for each in decisions)
    yield from _second_opinion(case["dcgm"])
    yield ""
    yield "Hardware and software:"
    for hca in case["hcas"]:
        known = [(key, hca[key]) for key in ("firmware", "board", "serial_number", "state", "rate")]
        yield f"- {hca['device']}: {', '.join(f'{key} {value}' for key, value in known if value)}"
    for gpu in case["gpus"]:
        yield f"- GPU {gpu['index']} {gpu['name']}: serial number {gpu['serial']}, at {gpu['pci.bus_id']}"
    yield from (f"- {name}: {version}" for name, version in case["versions"].items())
    if case["events"]:
        yield ""
        yield "Events of the node:"
        yield from (f"- {event['time']} {event['reason']}: {event['message']}" for event in case["events"])


def _second_opinion(dcgm: Mapping[str, Any] | None) -> Iterator[str]:
    """DCGM's diagnosis of the GPUs, next to the validation's verdict on them."""
    if dcgm is None:
        return
    yield ""
    if "not_asked" in dcgm:
        yield f"NVIDIA's DCGM gave no second opinion: {dcgm['not_asked']}"
    elif "failed" in dcgm:
        yield f"NVIDIA's DCGM gave no second opinion ({dcgm['command']}): {dcgm['failed']}"
    else:
        yield f"NVIDIA's DCGM {dcgm['version']}, as a second opinion of the GPUs ({dcgm['command']}):"
        yield from (f"- {line}" for line in (*dcgm["said"], *opinion.findings(dcgm)))
        yield "Compared with our own verdict of the GPUs:"
        yield from (f"- {line}" for line in dcgm["second_opinion"])
