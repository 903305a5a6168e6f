"""Machines with a fault, and what a support case says of them."""

import json
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.facts.guest_health import category_of
from aks_infiniband.validation.machines import Machine, known
from aks_infiniband_cli.bad_machines.evidence.case import case_of, health_report
from aks_infiniband_cli.bad_machines.evidence.dcgm.reader import DiagnosticsError, diagnosis_of
from aks_infiniband_cli.bad_machines.evidence.reading_job import parts_of
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket

from tests.cases import Case, patched
from tests.unit.command_line.validations import node, report

TAKEN: Final = datetime(2026, 11, 24, 2, 30, tzinfo=UTC)
RESOURCE: Final = (
    "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/mc/providers/Microsoft.Compute"
    "/virtualMachineScaleSets/aks-ndh100/virtualMachines/1"
)
_HCA: Final = {
    **{"device": "mlx5_3", "firmware": "28.43", "board": "MT_1", "node_guid": "1:2", "serial_number": "MT99"},
    **{"state": "4: ACTIVE", "rate": "400 Gb/sec", "counters": {}},
}
MACHINE: Final[dict[str, Any]] = {
    "physical_host_name": "GGBB90904476",
    "metadata": {"vmId": "the-vm", "vmSize": "Standard_ND96isr_H100_v5"},
    "drivers": {"mlx5_core": "26.04"},
    "hcas": [_HCA],
    "gpus": [],
    "kernel": [],
}
"""The output of the pod on the machine."""
_GPU: Final = {
    **{"index": "3", "name": "NVIDIA H100 80GB HBM3", "serial": "1653", "uuid": "u"},
    **{"pci.bus_id": "00000001:00:00.0", "vbios_version": "96.00", "driver_version": "580.159.04"},
}
FAILED: Final = {
    **{"check": "rdma-write-bandwidth", "verdict": "fail", "node": "b", "device": "mlx5_3", "tries": None},
    **{"expected": "at least 380 Gb/s", "measured": 351.0, "unit": "Gb/s", "cause": "the HCA is slow"},
}
ASKED: Final = {"pod": "gpu-operator/nvidia-dcgm-x", "command": "dcgmi diag -r 2 -j", "promised": 8}


def sick() -> dict[str, Any]:
    """The node with the machine."""
    found = node("b", providerID=f"azure://{RESOURCE}")
    found["metadata"]["annotations"] = {"token": "s3cret"}
    found["status"]["nodeInfo"] = {"kernelVersion": "6.8", "systemUUID": "other"}
    return found


def measured(*checks: Any) -> Machine:
    """The machine in the record: one measurement with these checks."""
    rows = [("a", 393.0), ("b", 351.0), ("c", 395.0)]
    found = report(351.0, *checks)
    found["rdma"] = [
        {"figure": "rdma-write-bandwidth", "node": name, "device": "mlx5_3", "value": value} for name, value in rows
    ]
    return known(sick(), {}, found)


def of_4(tests: Case, gpus: int = 8) -> dict[str, Any]:
    """The output of DCGM 4 for a machine whose GPUs pass every test, except for the results that are given."""
    made = []
    for test in ("software", "memory", "pcie"):
        given = {result["entity_id"]: result for result in tests.get(test, ())}
        usual = [{"entity_id": gpu, "status": "Pass"} for gpu in range(gpus)]
        results = [{"entity_group": "GPU", **given.get(each["entity_id"], each)} for each in usual]
        warnings = [warning for result in results for warning in result.get("warnings", [])]
        summary = {"status": "Fail" if warnings else "Pass", **({"warnings": warnings} if warnings else {})}
        made.append({"category": "x", "tests": [{"name": test, "results": results, "test_summary": summary}]})
    entities = [{"device_id": "2330", "entity_id": gpu, "serial_num": f"165{gpu}"} for gpu in range(gpus)]
    return {
        "DCGM Diagnostic": {"test_categories": made},
        "entity_groups": [{"entity_group": "GPU", "entities": entities}],
        "metadata": {"version": "4.5.2", "Driver Version Detected": "580.159.04"},
    }


def outcome_of_evidence(case: Case) -> dict[str, Any] | str:
    """The lines of the ticket that are not in the usual one, and the report to Azure. `node`, `machine`,
    `gpus` and `checks` have the differences from usual ones; `dcgm` has what DCGM finds, or words in its place.
    """
    checks = [patched(FAILED, change) for change in case.get("checks", [])]
    said = patched(MACHINE, case.get("machine", {}))
    machine = parts_of({**said, "gpus": [patched(_GPU, change) for change in case.get("gpus", [])]})
    record = measured(*checks) if case.get("measured", True) else Machine()
    there = patched(sick(), case.get("node", {}))
    try:
        dcgm = _diagnosis(case["dcgm"]) if "dcgm" in case else None
    except DiagnosticsError as error:
        return f"DCGM: {error}"
    found = case_of(there, machine, case.get("events", []), record, TAKEN, dcgm=dcgm)
    assert "s3cret" not in json.dumps(found)
    usual = ticket(case_of(sick(), MACHINE, [], measured(), TAKEN)).splitlines()
    told = health_report(found)
    outcome = {
        "ticket": [line for line in ticket(found).splitlines() if line not in usual],
        "report": told and _of_note(told["body"]["properties"]),
        "not_read": found["not_read"],
    }
    return {key: value for key, value in outcome.items() if value or key == "report"}


def _diagnosis(case: Case) -> dict[str, Any]:
    """`results`: of GPUs that do not pass, by test; `changes`: of the document; `around`: lines before and after it."""
    if "words" in case:
        return {**case["words"]}
    document = patched(of_4(case.get("results", {}), case.get("gpus", 8)), case.get("changes", {}))
    before, after = case.get("around", ("", ""))
    return {**diagnosis_of(f"{before}\n{json.dumps(document)}\n{after}\n"), **ASKED}


def _of_note(properties: Case) -> dict[str, Any]:
    """The category of a report, and what it says in addition to host and machine."""
    more = properties["additionalProperties"]
    usual = {"PhysicalHostName": "GGBB90904476", "VmUniqueId": "the-vm"}
    category = properties["impactCategory"].removeprefix("Resource.Hpc.Unhealthy.")
    return {"category": category, **{key: value for key, value in more.items() if usual.get(key) != value}}


def outcome_of_category(case: Case) -> str:
    """The category for checks that failed, each "name: what was measured", and lines of the kernel."""
    parts = [line.partition(": ") for line in case.get("failed", ())]
    failed = [(name, value) for name, _, value in parts]
    return category_of(failed, case.get("kernel", [])).removeprefix("Resource.Hpc.Unhealthy.")
