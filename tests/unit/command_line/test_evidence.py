"""`aks-infiniband evidence`: what a support case needs, in one file, before a machine is restarted."""

import json
import re
import stat
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband.facts.guest_health import category_of
from aks_infiniband.validation.machines import Machine, known
from aks_infiniband_cli.bad_machines.evidence import collecting, node_job, on_node
from aks_infiniband_cli.bad_machines.evidence.case import case_of, health_report, problems_of
from aks_infiniband_cli.bad_machines.evidence.reading_job import job_of, parts_of
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.main import main

from tests.unit.command_line.validations import kubeconfig_in, node, report, validation

TAKEN = datetime(2026, 11, 24, 2, 30, tzinfo=UTC)
RESOURCE = (
    "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/mc/providers/Microsoft.Compute"
    "/virtualMachineScaleSets/aks-ndh100/virtualMachines/1"
)
XID = "NVRM: Xid (PCI:0001:00:00): 79, pid=1, GPU has fallen off the bus."
MACHINE: dict[str, Any] = {
    "physical_host_name": "GGBB90904476",
    "metadata": {"vmId": "the-vm", "vmSize": "Standard_ND96isr_H100_v5"},
    "drivers": {"mlx5_core": "26.04"},
    "hcas": [
        {
            "device": "mlx5_3",
            "firmware": "28.43",
            "board": "MT_1",
            "node_guid": "1:2",
            "serial_number": "MT99",
            "state": "4: ACTIVE",
            "rate": "400 Gb/sec",
            "counters": {},
        }
    ],
    "gpus": [],
    "kernel": [{"time": "2026-11-24T01:00:00Z", "line": XID}],
}
FAILED = {
    "check": "rdma-write-bandwidth",
    "verdict": "fail",
    "node": "b",
    "device": "mlx5_3",
    "expected": "at least 380 Gb/s",
    "measured": 351.0,
    "unit": "Gb/s",
    "tries": None,
    "cause": "the HCA is slow",
}


def sick() -> dict[str, Any]:
    found = node("b", providerID=f"azure://{RESOURCE}")
    found["metadata"]["annotations"] = {"token": "s3cret"}
    found["status"]["nodeInfo"] = {"kernelVersion": "6.8", "systemUUID": "other"}
    return found


def measured(*checks: Any) -> Any:
    rows = [("a", 393.0), ("b", 351.0), ("c", 395.0)]
    found = report(351.0, *checks)
    found["rdma"] = [
        {"figure": "rdma-write-bandwidth", "node": name, "device": "mlx5_3", "value": value} for name, value in rows
    ]
    return known(sick(), {}, found)


def test_the_ticket_names_the_host_what_is_wrong_and_what_the_others_reach() -> None:
    case = case_of(sick(), MACHINE, [], measured(FAILED), TAKEN)
    text = ticket(case)
    for said in ("GGBB90904476", RESOURCE, "the-vm", "mlx5_3", "MT99", "351, the others 394", XID):
        assert said in text


def test_what_validate_has_measured_stands_in_the_ticket_once_and_by_its_name() -> None:
    node_ = sick()
    told = {
        "type": "InfiniBandHealthy",
        "status": "False",
        "reason": "FellShort",
        "message": "rdma-write-bandwidth: 351",
    }
    node_["status"]["conditions"].append(told)
    quiet = {**MACHINE, "kernel": []}
    assert problems_of(case_of(node_, quiet, [], measured(FAILED), TAKEN)) == [
        "rdma-write-bandwidth (mlx5_3): 351.0 Gb/s, expected at least 380 Gb/s"
    ]
    assert problems_of(case_of(node_, quiet, [], Machine(), TAKEN)) == ["validate --cordon: rdma-write-bandwidth: 351"]


def test_only_what_is_named_is_kept_so_no_secret_comes_along() -> None:
    stranger = {"involvedObject": {"kind": "Node", "name": "b"}, "source": {"component": "x"}, "message": "s3cret"}
    about_a_pod = {
        "involvedObject": {"kind": "Pod", "name": "b"},
        "source": {"component": "kubelet"},
        "message": "s3cret",
    }
    machine = {**MACHINE, "environment": "s3cret", "metadata": {**MACHINE["metadata"], "userData": "s3cret"}}
    case = case_of(sick(), machine, [stranger, about_a_pod], measured(FAILED), TAKEN)
    assert "s3cret" not in json.dumps(case) + ticket(case)


def test_scheduled_events_and_repairs_by_azure_are_kept() -> None:
    about = {"kind": "Node", "name": "b"}
    told = [
        {"involvedObject": about, "reason": "RedeployScheduled", "message": "soon", "lastTimestamp": "t1"},
        {
            "involvedObject": about,
            "reason": "NodeRebootStart",
            "message": "reboot",
            "source": {"component": "aks-auto-repair"},
        },
    ]
    case = case_of(sick(), MACHINE, told, Machine(), TAKEN)
    assert [event["reason"] for event in case["events"]] == ["RedeployScheduled", "NodeRebootStart"]


def test_a_report_to_azure_is_ready_to_be_sent() -> None:
    made = health_report(case_of(sick(), {**MACHINE, "kernel": []}, [], measured(FAILED), TAKEN))
    assert made is not None
    assert made["method"] == "PUT"
    assert made["path"] == (
        "/subscriptions/11111111-2222-4333-8444-555555555555/providers/Microsoft.Impact/workloadImpacts/"
        "b-20261124023000?api-version=2023-02-01-preview"
    )
    properties = made["body"]["properties"]
    assert properties["impactCategory"] == "Resource.Hpc.Unhealthy.IBPerformance"
    assert properties["impactedResourceId"] == RESOURCE
    assert properties["additionalProperties"] == {"PhysicalHostName": "GGBB90904476", "VmUniqueId": "the-vm"}


GPU = {"index": "3", "name": "NVIDIA H100 80GB HBM3", "serial": "1654", "uuid": "u", "pci.bus_id": "00000001:00:00.0"}
OTHER = {**GPU, "index": "4", "serial": "1655", "pci.bus_id": "00000002:00:00.0"}


def a_check(check: str, device: str, measured: str) -> dict[str, Any]:
    return {**FAILED, "check": check, "device": device, "measured": measured, "unit": None}


@pytest.mark.parametrize(
    ("checks", "kernel"),
    [
        ([a_check("gpu-nvlinks", "GPU 3 (0001:00:00.0)", "17")], []),
        ([], [{"time": "t", "line": XID}]),
    ],
)
def test_a_report_about_one_gpu_names_its_maker_and_numbers(checks: Any, kernel: Any) -> None:
    case = case_of(sick(), {**MACHINE, "gpus": [GPU, OTHER], "kernel": kernel}, [], measured(*checks), TAKEN)
    made = health_report(case)
    assert made is not None
    assert made["body"]["properties"]["additionalProperties"] == {
        "PhysicalHostName": "GGBB90904476",
        "VmUniqueId": "the-vm",
        "Manufacturer": "Nvidia",
        "SerialNumber": "1654",
        "ModelNumber": "NVIDIA H100 80GB HBM3",
        "Location": "00000001:00:00.0",
    }


def test_a_report_about_two_gpus_or_an_adapter_names_no_gpu() -> None:
    two = [a_check("gpu-nvlinks", f"GPU {number} (x)", "17") for number in (3, 4)]
    for checks in (two, [FAILED]):
        case = case_of(sick(), {**MACHINE, "gpus": [GPU, OTHER], "kernel": []}, [], measured(*checks), TAKEN)
        made = health_report(case)
        assert made is not None
        assert "SerialNumber" not in made["body"]["properties"]["additionalProperties"]


@pytest.mark.parametrize(("state", "category"), [("1: DOWN", "IBPortDown"), ("4: ACTIVE", "MissingIB")])
def test_a_port_that_is_down_is_told_from_an_adapter_that_is_missing(state: str, category: str) -> None:
    machine = {**MACHINE, "hcas": [{**MACHINE["hcas"][0], "state": state}], "kernel": []}
    made = health_report(case_of(sick(), machine, [], measured(a_check("hca-count", "", "7")), TAKEN))
    assert made is not None
    assert made["body"]["properties"]["impactCategory"] == f"Resource.Hpc.Unhealthy.{category}"


@pytest.mark.parametrize("machine", [{"not_read": ["all"]}, {**MACHINE, "physical_host_name": None}])
def test_without_the_name_of_its_host_there_is_no_report_to_azure(machine: Any) -> None:
    case = case_of(sick(), machine, [], measured(FAILED), TAKEN)
    assert health_report(case) is None
    assert problems_of(case)


def test_of_a_machine_with_which_nothing_is_wrong_azure_is_told_nothing() -> None:
    case = case_of(sick(), {**MACHINE, "kernel": []}, [], measured(), TAKEN)
    assert problems_of(case) == []
    assert health_report(case) is None
    assert "nothing that a measurement" in ticket(case)


@pytest.mark.parametrize(
    ("failed", "kernel", "category"),
    [
        (["rdma-write-bandwidth", "hca-count"], [], "MissingIB"),
        (["hca-rate"], [], "IBPerformance"),
        (["port-down", "hca-count"], [], "IBPortDown"),
        (["gpu-count"], [], "HpcMissingGpu"),
        (["gpu-nvlinks"], [], "NvLink"),
        (["gpu-memory: no spare row was left for one that failed"], [], "HpcRowRemapFailure"),
        (["gpu-memory: 3 uncorrected errors since the driver was loaded"], [], "HpcGenericFailure"),
        (["gpu-throttling: hardware thermal slowdown in 40% of readings"], [], "HpcDcgmiThermalReport"),
        (["gpu-throttling: hardware power brake in 40% of readings"], [], "HpcGenericFailure"),
        (["error-counters: link_downed 3"], [], "IBPortFlapping"),
        (["error-counters: symbol_error 9"], [], "IBPerformance"),
        (["rdma-write-bandwidth"], [XID], "XID79FallenOffBus"),
        (["rdma-write-bandwidth"], ["NVRM: Xid (PCI:0001:00:00): 63, row remapped"], "IBPerformance"),
        ([], ["NVRM: Xid (PCI:0001:00:00): 63, row remapped"], "GpuXIDError"),
        (["memlock"], [], "HpcGenericFailure"),
    ],
)
def test_the_category_is_that_of_what_says_most(failed: list[str], kernel: list[str], category: str) -> None:
    told = [(name, measured) for name, _, measured in (one.partition(": ") for one in failed)]
    assert category_of(told, kernel) == f"Resource.Hpc.Unhealthy.{category}"


def test_the_machine_is_read_as_linux_and_hyper_v_lay_it_out(tmp_path: Path) -> None:
    device = tmp_path / "sys/class/infiniband/mlx5_0"
    (device / "device").mkdir(parents=True)
    (device / "ports/1/counters").mkdir(parents=True)
    (device / "fw_ver").write_text("28.43.1014\n")
    (device / "device/vpd").write_bytes(b"\x82\x04\x00card\x90\x0e\x00PN\x02AASN\x06MT2233")
    (device / "ports/1/counters/link_downed").write_text("3\n")
    (device / "ports/1/link_layer").write_text("InfiniBand\n")
    ethernet = tmp_path / "sys/class/infiniband/mlx5_an0/ports/1"
    ethernet.mkdir(parents=True)
    (ethernet / "link_layer").write_text("Ethernet\n")
    (tmp_path / "var/lib/hyperv").mkdir(parents=True)
    pool = b"HostName".ljust(512, b"\0") + b"x".ljust(2048, b"\0")
    pool += b"PhysicalHostName".ljust(512, b"\0") + b"GGBB1".ljust(2048, b"\0")
    (tmp_path / "var/lib/hyperv/.kvp_pool_3").write_bytes(pool)
    (tmp_path / "compute").write_text(json.dumps({"vmId": "v", "userData": "s3cret"}))
    found: Any = on_node.evidence(tmp_path, (tmp_path / "compute").as_uri())
    assert found["physical_host_name"] == "GGBB1"
    assert found["metadata"] == {"vmId": "v"}
    (hca,) = found["hcas"]
    assert (hca["firmware"], hca["serial_number"], hca["counters"]) == ("28.43.1014", "MT2233", {"link_downed": 3})
    assert parts_of(found) == {**found, "not_read": []}


def test_a_machine_that_tells_nothing_gives_evidence_all_the_same(tmp_path: Path) -> None:
    found = on_node.evidence(tmp_path, (tmp_path / "absent").as_uri())
    assert (found["physical_host_name"], found["hcas"], found["gpus"], found["kernel"]) == (None, [], [], [])
    assert ticket(case_of(sick(), found, [], Machine(), TAKEN))


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ({"hcas": 3}, "hcas is 3; must be a list"),
        ({"hcas": [{**MACHINE["hcas"][0], "firmware": 28}]}, r"hcas\[0\].firmware is 28; must be a string"),
        ({"gpus": [{"index": "No devices were found"}]}, r"gpus\[0\].name is missing"),
        ({"kernel": [{"time": None, "line": XID}]}, r"kernel\[0\].time is None"),
        ({"metadata": {"vmId": {}}}, "metadata.vmId is {}"),
        ({"physical_host_name": ["GGBB"]}, "physical_host_name is"),
    ],
)
def test_a_part_of_another_form_is_named_and_the_others_are_kept(odd: dict[str, Any], words: str) -> None:
    found = parts_of({**MACHINE, **odd})
    ((name, _),) = odd.items()
    assert {key: found[key] for key in MACHINE if key != name} == {
        key: value for key, value in MACHINE.items() if key != name
    }
    (told,) = found["not_read"]
    assert re.search(words, told), told
    assert ticket(case_of(sick(), found, [], measured(FAILED), TAKEN))


def test_a_resource_that_is_none_of_azures_is_kept_and_not_reported() -> None:
    elsewhere = sick()
    elsewhere["spec"] = {"providerID": "x"}
    case = case_of(elsewhere, MACHINE, [], measured(FAILED), TAKEN)
    assert case["resource_id"] == "x"
    assert health_report(case) is None
    assert ticket(case)


def test_a_log_without_end_is_read_as_far_as_there_is_room() -> None:
    assert len(node_job._beginning(repeat("x" * 1000))) == 4_001_000


def test_of_the_kernels_log_what_speaks_of_gpus_and_ports_is_kept_with_its_time() -> None:
    log = f"3,10,5000000,-;{XID}\n6,11,6000000,-;usb 1-1: new device\n4,12,7000000,-;mlx5_core 0001: Link down"
    found = on_node.kernel_lines(log, booted=1_000_000.0)
    assert [line["line"] for line in found] == [XID, "mlx5_core 0001: Link down"]
    assert found[0]["time"] == "1970-01-12T13:46:45Z"


def test_the_pod_changes_nothing_on_the_machine_and_asks_for_none_of_its_devices() -> None:
    pod = job_of("b", validation(), "t")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert [mount["readOnly"] for mount in container["volumeMounts"]] == [True]
    assert pod["automountServiceAccountToken"] is False
    assert not [name for name in container["resources"]["limits"] if "/" in name]
    assert pod["nodeName"] == "b"


class Silent:
    """A cluster whose node b runs no pod, and that does not have a record of its machines yet."""

    def get(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(to_dict=dict)

    def list(self, *_: Any, **__: Any) -> list[Any]:
        return []


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    def ask(*_: Any) -> Any:
        raise CommandError("its pod has told nothing")

    monkeypatch.setattr(collecting, "connected", lambda _: Silent())
    monkeypatch.setattr(collecting, "read_cluster", lambda *_: ({"ndh100": validation()}, [sick()], []))
    monkeypatch.setattr(collecting, "ask", ask)
    monkeypatch.chdir(tmp_path)
    return ["--kubeconfig", str(kubeconfig_in(tmp_path)), "--output", "json"]


def test_a_machine_that_runs_no_pod_has_its_evidence_kept_and_that_is_said(
    cluster: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evidence", "b", *cluster]) == 0
    said = json.loads(capsys.readouterr().out)
    kept = tmp_path / said["file"]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    document = json.loads(kept.read_text())
    assert document["resource_id"] == RESOURCE
    assert document["not_read"] == ["the machine itself: its pod has told nothing"]


def test_evidence_is_not_overwritten_and_a_stranger_is_named(
    cluster: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "evidence-b.json").write_text("first")
    assert main(["evidence", "b", *cluster]) == 2
    assert "is not overwritten" in capsys.readouterr().err
    assert main(["evidence", "z", *cluster]) == 2
    assert "node z does not exist; the nodes are: b" in capsys.readouterr().err
    assert (tmp_path / "evidence-b.json").read_text() == "first"
