"""`aks-infiniband evidence`: what a support case needs, in one file, before a machine is restarted."""

import json
import stat
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.machines import Machine
from aks_infiniband_cli.bad_machines.evidence import collecting, node_job, on_node
from aks_infiniband_cli.bad_machines.evidence.case import case_of, health_report
from aks_infiniband_cli.bad_machines.evidence.reading_job import job_of, parts_of
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.main import main

from tests.unit.command_line.cases.clusters import Silent
from tests.unit.command_line.cases.ill_machines import FAILED, MACHINE, RESOURCE, TAKEN, measured, sick
from tests.unit.command_line.validations import kubeconfig_in, validation

XID = "NVRM: Xid (PCI:0001:00:00): 79, pid=1, GPU has fallen off the bus."


def test_the_ticket_names_the_host_what_is_wrong_and_what_the_others_reach() -> None:
    machine = {**MACHINE, "kernel": [{"time": "2026-11-24T01:00:00Z", "line": XID}]}
    text = ticket(case_of(sick(), machine, [], measured(FAILED), TAKEN))
    for said in ("GGBB90904476", RESOURCE, "the-vm", "mlx5_3", "MT99", "351, the others 394", XID):
        assert said in text


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
