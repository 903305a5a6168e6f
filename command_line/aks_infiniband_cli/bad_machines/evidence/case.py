"""The facts that are kept of a machine, and the report on it for Azure: plain data in, plain data out."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from aks_infiniband.diagnosis.repairs import SOURCE as AUTO_REPAIR
from aks_infiniband.facts.azure_names import SIZE_LABEL
from aks_infiniband.facts.guest_health import API_VERSION, PORT_DOWN, category_of
from aks_infiniband.facts.node_images import VERSION_LABEL
from aks_infiniband.validation.machines import (
    FELL_SHORT,
    LIGHT_CHECK,
    Machine,
    Measurement,
    current,
    doubt,
    teller_of,
    told,
)
from aks_infiniband.validation.reports import CONDITION
from aks_infiniband.validation.reports import LIGHT_CHECK as EVENT_SOURCE

from aks_infiniband_cli.bad_machines.evidence.dcgm import opinion
from aks_infiniband_cli.validate.deployed import Object

_PROVIDER: Final = "azure://"
_RESOURCE: Final = re.compile(r"/subscriptions/([^/]+)/")
"""The beginning of the ID of a machine of Azure."""
_SOURCES: Final = ("kubelet", AUTO_REPAIR, EVENT_SOURCE, "node-problem-detector")
"""Sources of events about a node's health, in addition to Azure's scheduled events, whose reasons end in Scheduled."""
_VERSIONS: Final = ("kernelVersion", "osImage", "kubeletVersion", "containerRuntimeVersion", "architecture")


def case_of(
    node: Object,
    machine: Mapping[str, Any],
    events: Sequence[Object],
    known: Machine,
    taken: datetime,
    *,
    dcgm: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that is kept of a machine. Only the fields that are named here are copied, so no secret comes along.

    machine: the output of on_node, or as `not_read` the reason why it could not be read. known: the machine's part of
    the record. dcgm: DCGM's words on its GPUs, or the reason why there are none.
    """
    name = str(node["metadata"]["name"])
    status = node.get("status") or {}
    of_azure = machine.get("metadata") or {}
    info = status.get("nodeInfo") or {}
    labels = node["metadata"].get("labels") or {}
    newest, gpus = current(known, node), machine.get("gpus") or []
    checks = [each.model_dump() for each in newest.problems if each.verdict in ("fail", "warn")] if newest else []
    return {
        "taken": taken.isoformat(timespec="seconds"),
        "node": name,
        "physical_host_name": machine.get("physical_host_name"),
        "resource_id": str((node.get("spec") or {}).get("providerID", "")).removeprefix(_PROVIDER) or None,
        "vm_id": of_azure.get("vmId") or info.get("systemUUID"),
        "vm_size": of_azure.get("vmSize") or labels.get(SIZE_LABEL),
        "placement_group": of_azure.get("placementGroupId"),
        "versions": {
            **{key: info[key] for key in _VERSIONS if info.get(key)},
            **({"node image": labels[VERSION_LABEL]} if VERSION_LABEL in labels else {}),
            **(machine.get("drivers") or {}),
        },
        "hcas": machine.get("hcas") or [],
        "gpus": gpus,
        "kernel": machine.get("kernel") or [],
        "conditions": [_condition(each) for each in status.get("conditions") or []],
        "events": [_event(each) for each in events if _tells(each, name)],
        **_measured(known, node, newest),
        "checks": checks,
        "dcgm": dcgm and {**dcgm, **opinion.beside(dcgm, checks, gpus, newest.at if newest else None)},
        "not_read": list(machine.get("not_read") or []),
    }


def _measured(known: Machine, node: Object, newest: Measurement | None) -> dict[str, Any]:
    """Time, command and figures of the measurement; everything else that did not pass, and the decisions."""
    return {
        "measured_on": newest.at if newest else None,
        "measured_by": newest.by if newest else None,
        "figures": [each.model_dump() for each in newest.values] if newest else [],
        "measured_before": [
            {**one.model_dump(), "doubt": doubt(one, node), "told": told(one)}
            for one in known.measurements
            if one is not newest and one.verdict != "pass"
        ],
        "decisions": [each.model_dump() for each in known.decisions],
    }


def _condition(condition: Object) -> dict[str, str]:
    return {key: str(condition.get(key, "")) for key in ("type", "status", "reason", "message", "lastTransitionTime")}


def _tells(event: Object, name: str) -> bool:
    about = event.get("involvedObject") or {}
    if about.get("kind") != "Node" or about.get("name") != name:
        return False
    return (event.get("source") or {}).get("component") in _SOURCES or str(event.get("reason")).endswith("Scheduled")


def _event(event: Object) -> dict[str, str]:
    moment = event.get("lastTimestamp") or event.get("eventTime") or ""
    return {"time": str(moment), "reason": str(event.get("reason")), "message": str(event.get("message"))}


def problems_of(case: Mapping[str, Any]) -> list[str]:
    """In a line each: what is wrong with the machine."""
    lines = [f"{each['check']}{_at(each)}: {each['measured']}, expected {each['expected']}" for each in case["checks"]]
    unhealthy = [each for each in case["conditions"] if each["type"] == CONDITION and each["status"] == "False"]
    lines += [f"{teller_of(each)}: {each['message']}" for each in unhealthy if not _stands_above(each, case)]
    lines += opinion.problems(case["dcgm"])
    return lines + [f"{each['time']} {each['line']}" for each in case["kernel"] if "Xid" in each["line"]]


def _stands_above(condition: Mapping[str, Any], case: Mapping[str, Any]) -> bool:
    """True if the condition repeats what the measurement that counts has found."""
    heard = condition["reason"] == FELL_SHORT or case["measured_by"] == LIGHT_CHECK
    return bool(case["checks"]) and heard


def _at(check: Mapping[str, Any]) -> str:
    return f" ({check['device']})" if check["device"] else ""


def health_report(case: Mapping[str, Any]) -> dict[str, Any] | None:
    """A guest health report, ready to send; None if nothing is wrong, or if a field is missing that Azure requires."""
    problems = problems_of(case)
    of_azure = _RESOURCE.match(case["resource_id"] or "")
    if not problems or not case["physical_host_name"] or of_azure is None:
        return None
    moment = "".join(sign for sign in case["taken"] if sign.isdigit())[:14]
    return {
        "method": "PUT",
        "path": f"/subscriptions/{of_azure[1]}/providers/Microsoft.Impact/workloadImpacts/{case['node']}-{moment}"
        f"?api-version={API_VERSION}",
        "body": {
            "properties": {
                "startDateTime": case["taken"],
                "impactCategory": category_of(
                    _failed(case), [each["line"] for each in case["kernel"]], dcgm=bool(opinion.problems(case["dcgm"]))
                ),
                "impactDescription": "; ".join(problems)[:1000],
                "impactedResourceId": case["resource_id"],
                "additionalProperties": {
                    "PhysicalHostName": case["physical_host_name"],
                    **({"VmUniqueId": case["vm_id"]} if case["vm_id"] else {}),
                    **_bad_gpu(case),
                },
            }
        },
    }


def _failed(case: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Checks that fail, each with what was measured; and that a port is down, as the machine shows it."""
    checks = [(each["check"], str(each["measured"])) for each in case["checks"] if each["verdict"] == "fail"]
    down = any(hca["state"] and "ACTIVE" not in hca["state"].upper() for hca in case["hcas"])
    return checks + ([(PORT_DOWN, "")] if checks and down else [])


def _bad_gpu(case: Mapping[str, Any]) -> dict[str, str]:
    """The GPU that a report is about: its maker, numbers and place; empty if it is about none or several."""
    told = [each["device"] or "" for each in case["checks"] if each["verdict"] == "fail"]
    told += [str(row["device"]) for row in (case["dcgm"] or {}).get("results", ()) if opinion.finds_bad(row)]
    bad = {match[1] for device in told if (match := opinion.OURS.match(device))}
    for each in case["kernel"]:
        bad |= {gpu["index"] for gpu in case["gpus"] if "Xid" in each["line"] and _address(gpu) in each["line"].lower()}
    known = [gpu for gpu in case["gpus"] if gpu["index"] in bad]
    if len(bad) != 1 or len(known) != 1:
        return {}
    (gpu,) = known
    return {
        "Manufacturer": "Nvidia",
        "SerialNumber": gpu["serial"],
        "ModelNumber": gpu["name"],
        "Location": gpu["pci.bus_id"],
    }


def _address(gpu: Mapping[str, str]) -> str:
    """The PCI address as the kernel writes it, without the function: nvidia-smi's domain has eight digits."""
    domain, _, rest = gpu["pci.bus_id"].lower().partition(":")
    return f"{domain[-4:]}:{rest.partition('.')[0]}"
