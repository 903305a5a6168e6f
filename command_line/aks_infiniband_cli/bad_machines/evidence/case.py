"""What is kept of a machine, and what is said of it to Azure: plain data in, plain data out."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import Any, Final

from aks_infiniband.diagnosis.repairs import SOURCE as AUTO_REPAIR
from aks_infiniband.facts.guest_health import API_VERSION, category_of
from aks_infiniband.facts.node_images import VERSION_LABEL
from aks_infiniband.validation.reports import CONDITION, LIGHT_CHECK, Report, measured_text

from aks_infiniband_cli.bad_machines.evidence.dcgm import opinion
from aks_infiniband_cli.validate.deployed import Object

_PROVIDER: Final = "azure://"
_SOURCES: Final = ("kubelet", AUTO_REPAIR, LIGHT_CHECK, "node-problem-detector")
"""Sources of events about a node's health, beside Azure's scheduled events, whose reasons end in Scheduled."""
_VERSIONS: Final = ("kernelVersion", "osImage", "kubeletVersion", "containerRuntimeVersion", "architecture")


def case_of(
    node: Object,
    machine: Mapping[str, Any],
    events: Sequence[Object],
    report: Report | None,
    taken: datetime,
    *,
    dcgm: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Everything that is kept of a machine. Only the fields that are named here are copied, so no secret comes along.

    machine: what on_node printed, or as `not_read` why it could not be asked. report: the pool's last validation.
    dcgm: what DCGM said of its GPUs, or why it said nothing.
    """
    name = str(node["metadata"]["name"])
    status = node.get("status") or {}
    known = machine.get("metadata") or {}
    info = status.get("nodeInfo") or {}
    labels = node["metadata"].get("labels") or {}
    checks, gpus = _checks(report, name), machine.get("gpus") or []
    measured_on = report["finished"] if report else None
    return {
        "taken": taken.isoformat(timespec="seconds"),
        "node": name,
        "physical_host_name": machine.get("physical_host_name"),
        "resource_id": str((node.get("spec") or {}).get("providerID", "")).removeprefix(_PROVIDER) or None,
        "vm_id": known.get("vmId") or info.get("systemUUID"),
        "vm_size": known.get("vmSize") or labels.get("node.kubernetes.io/instance-type"),
        "placement_group": known.get("placementGroupId"),
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
        "measured_on": measured_on,
        "checks": checks,
        "dcgm": dcgm and {**dcgm, **opinion.beside(dcgm, checks, gpus, measured_on)},
        "figures": _figures(report, name),
        "not_read": list(machine.get("not_read") or []),
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


def _checks(report: Report | None, name: str) -> list[dict[str, Any]]:
    """What fails or warns at the node itself."""
    checks = [check for check in report["checks"] if check["node"] == name] if report else []
    return [
        {
            "check": check["check"],
            "verdict": check["verdict"],
            "device": check["device"],
            "expected": check["expected"],
            "measured": measured_text(check),
            "cause": check["cause"],
        }
        for check in checks
        if check["verdict"] in ("fail", "warn")
    ]


def _figures(report: Report | None, name: str) -> list[dict[str, Any]]:
    """Each figure of each HCA of the node, beside the median of the same HCA on the pool's other nodes."""
    values: dict[tuple[str, str], dict[str, float]] = {}
    for row in report["rdma"] if report else []:
        if row["value"] is not None:
            values.setdefault((row["figure"], row["device"]), {})[row["node"]] = row["value"]
    found = []
    for (figure, device), by_node in values.items():
        if name in by_node:
            others = [value for node, value in by_node.items() if node != name]
            beside = {"others": median(others) if others else None, "other_nodes": len(others)}
            found.append({"figure": figure, "device": device, "value": by_node[name], **beside})
    return found


def problems_of(case: Mapping[str, Any]) -> list[str]:
    """In a line each: what is wrong with the machine."""
    lines = [f"{each['check']}{_at(each)}: {each['measured']}, expected {each['expected']}" for each in case["checks"]]
    unhealthy = [each for each in case["conditions"] if each["type"] == CONDITION and each["status"] == "False"]
    lines += [f"light check: {each['message']}" for each in unhealthy]
    lines += opinion.problems(case["dcgm"])
    return lines + [f"{each['time']} {each['line']}" for each in case["kernel"] if "Xid" in each["line"]]


def _at(check: Mapping[str, Any]) -> str:
    return f" ({check['device']})" if check["device"] else ""


def health_report(case: Mapping[str, Any]) -> dict[str, Any] | None:
    """A guest health report, ready to send; None where nothing is wrong, or a field is missing that Azure asks for."""
    problems = problems_of(case)
    if not problems or not case["physical_host_name"] or not case["resource_id"]:
        return None
    subscription = case["resource_id"].split("/")[2]
    moment = "".join(sign for sign in case["taken"] if sign.isdigit())[:14]
    return {
        "method": "PUT",
        "path": f"/subscriptions/{subscription}/providers/Microsoft.Impact/workloadImpacts/{case['node']}-{moment}"
        f"?api-version={API_VERSION}",
        "body": {
            "properties": {
                "startDateTime": case["taken"],
                "impactCategory": category_of(
                    [check["check"] for check in case["checks"] if check["verdict"] == "fail"],
                    [each["line"] for each in case["kernel"]],
                    dcgm=bool(opinion.problems(case["dcgm"])),
                ),
                "impactDescription": "; ".join(problems)[:1000],
                "impactedResourceId": case["resource_id"],
                "additionalProperties": {"PhysicalHostName": case["physical_host_name"]},
            }
        },
    }
