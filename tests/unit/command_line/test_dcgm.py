"""DCGM as a second opinion in the evidence: the condition for a call, its output, and its relation to our verdict."""

import json
from typing import Any

import pytest
from aks_infiniband.validation.machines import Machine
from aks_infiniband_cli.bad_machines.evidence.case import case_of, health_report, problems_of
from aks_infiniband_cli.bad_machines.evidence.dcgm import diagnose
from aks_infiniband_cli.bad_machines.evidence.dcgm.asking import HostEngine, engine_on, has_gpus, job_of
from aks_infiniband_cli.bad_machines.evidence.dcgm.diagnose import diagnosed
from aks_infiniband_cli.bad_machines.evidence.dcgm.opinion import beside, findings, finds_bad
from aks_infiniband_cli.bad_machines.evidence.dcgm.reader import DiagnosticsError, diagnosis_of
from aks_infiniband_cli.bad_machines.evidence.node_job import Ended, run
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket
from httpx2 import ConnectError
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod

from tests.unit.command_line.test_evidence import MACHINE, TAKEN, measured, sick
from tests.unit.command_line.validations import node, pod, validation

OPERATORS = ("gpu-operator",)
ENGINE = HostEngine(pod="gpu-operator/nvidia-dcgm-x", address="10.244.1.7", image="nvcr.io/nvidia/cloud-native/dcgm:4")
WIDTH = "GPU 5 is running at PCI link width 8X, which is below the minimum allowed link generation of 16"


def host_engine(*, ready: bool = True, on: str = "b") -> dict[str, Any]:
    found = pod("nvidia-dcgm-x", on)
    owner = {"kind": "DaemonSet", "name": "nvidia-dcgm", "controller": True}
    found["metadata"] |= {"labels": {"app": "nvidia-dcgm"}, "namespace": "gpu-operator", "ownerReferences": [owner]}
    found["spec"]["containers"] = [{"name": "nvidia-dcgm-ctr", "image": ENGINE.image}]
    found["status"] |= {"podIP": "10.244.1.7", "containerStatuses": [{"ready": ready, "state": {"running": {}}}]}
    return found


def of_a_tenant(found: dict[str, Any]) -> dict[str, Any]:
    found["metadata"]["namespace"] = "team"
    return found


def by_hand(found: dict[str, Any]) -> dict[str, Any]:
    del found["metadata"]["ownerReferences"]
    return found


def of_4(*tests: tuple[str, list[dict[str, Any]]], gpus: int = 8) -> str:
    """The output of DCGM 4 for a machine whose GPUs pass every test, except for the results that are given."""
    made = []
    for test in ("software", "memory", "pcie"):
        given = {result["entity_id"]: result for name, results in tests if name == test for result in results}
        plain = [{"entity_id": gpu, "status": "Pass"} for gpu in range(gpus)]
        results = [{"entity_group": "GPU", **given.get(each["entity_id"], each)} for each in plain]
        warnings = [warning for result in results for warning in result.get("warnings", [])]
        summary = {"status": "Fail" if warnings else "Pass", **({"warnings": warnings} if warnings else {})}
        made.append({"category": "x", "tests": [{"name": test, "results": results, "test_summary": summary}]})
    entities = [{"device_id": "2330", "entity_id": gpu, "serial_num": f"165{gpu}"} for gpu in range(gpus)]
    return json.dumps(
        {
            "DCGM Diagnostic": {"test_categories": made},
            "entity_groups": [{"entity_group": "GPU", "entities": entities}],
            "metadata": {"version": "4.5.2", "Driver Version Detected": "580.159.04"},
        }
    )


def fails(gpu: int, words: str, category: int = 13) -> dict[str, Any]:
    warning = {"warning": words, "error_category": category, "error_id": 46, "error_severity": 5}
    return {"entity_id": gpu, "status": "Fail", "warnings": [warning]}


HALF_LANES = of_4(("pcie", [fails(5, WIDTH)]))


def check(name: str, gpu: int) -> dict[str, Any]:
    return {
        **{"check": name, "verdict": "fail", "node": "b", "device": f"GPU {gpu} at 0006:00:00.0"},
        **{"expected": "16", "measured": 8, "unit": None, "tries": None, "cause": "x"},
    }


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        ([], "dcgm: {enabled: true}"),
        ([host_engine(on="a")], "dcgm: {enabled: true}"),
        ([of_a_tenant(host_engine())], "dcgm: {enabled: true}"),
        ([by_hand(host_engine())], "dcgm: {enabled: true}"),
        ([host_engine(ready=False)], "pod gpu-operator/nvidia-dcgm-x is not ready"),
        ([host_engine(), pod("train", "b", **{"nvidia.com__gpu": "8"})], "pod team/train has nvidia.com/gpu"),
        ([host_engine(), pod("part", "b", **{"nvidia.com__mig-1g.10gb": "1"})], "has nvidia.com/mig-1g.10gb"),
    ],
)
def test_it_is_not_asked_and_the_evidence_says_why(pods: list[Any], why: str) -> None:
    assert why in str(engine_on("b", pods))
    found = diagnosed(None, sick(), pods, validation(), OPERATORS)  # type: ignore[arg-type]
    assert found == {"not_asked": engine_on("b", pods)}
    assert why in ticket(case_of(sick(), MACHINE, [], Machine(), TAKEN, dcgm=found))


def test_it_is_not_asked_where_a_pod_claims_devices() -> None:
    claiming = pod("train", "b")
    claiming["spec"]["resourceClaims"] = [{"name": "gpus"}]
    assert "has the resource claim gpus" in str(engine_on("b", [host_engine(), claiming]))


def test_pods_that_are_over_or_elsewhere_or_hold_adapters_alone_do_not_keep_it_from_being_asked() -> None:
    others = [
        pod("done", "b", "Succeeded", **{"nvidia.com__gpu": "8"}),
        pod("elsewhere", "a", **{"nvidia.com__gpu": "8"}),
        pod("adapters", "b", rdma__shared_ib="1"),
    ]
    assert engine_on("b", [host_engine(), *others]) == ENGINE


def test_a_machine_without_nvidias_gpus_has_nothing_of_it_in_its_evidence() -> None:
    plain = {**node("b"), "status": {"capacity": {"rdma/shared_ib": "63", "amd.com/gpu": "8"}}}
    hbv4 = validation()
    hbv4.job["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"rdma/shared_ib": "1"}
    assert not has_gpus(plain, hbv4)
    assert diagnosed(None, plain, [], hbv4, OPERATORS) is None  # type: ignore[arg-type]
    assert "DCGM" not in ticket(case_of(sick(), MACHINE, [], Machine(), TAKEN, dcgm=None))


def test_its_pod_takes_all_gpus_so_that_nobody_is_given_one_meanwhile() -> None:
    there = node("b")
    there["status"]["allocatable"] |= {"nvidia.com/gpu": "7", "nvidia.com/mig-1g.10gb": "0"}
    job = job_of(there, ENGINE, validation(), "t")
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "7"
    assert "nvidia.com/mig-1g.10gb" not in container["resources"]["limits"]
    assert container["command"] == ["dcgmi", "diag", "-r", "2", "-j", "--host", "10.244.1.7:5555"]
    assert (spec["nodeName"], spec["automountServiceAccountToken"]) == ("b", False)
    assert not container["securityContext"].get("privileged")
    assert job["spec"]["activeDeadlineSeconds"] == 600


def test_on_a_cordoned_node_its_pod_takes_no_gpu_with_which_it_may_not_start() -> None:
    (container,) = job_of(node("b", unschedulable=True), ENGINE, validation(), "t")["spec"]["template"]["spec"][
        "containers"
    ]
    assert not [name for name in container["resources"]["limits"] if "/" in name]
    assert container["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        (Ended(said="", why="Job was active longer than specified deadline"), "longer than specified deadline"),
        (Ended(said="Segmentation fault\n"), "printed no document of DCGM 3 or 4: 'Segmentation fault'"),
        (ConnectError("no route"), "no route"),
    ],
)
def test_no_failure_of_it_fails_the_evidence(monkeypatch: pytest.MonkeyPatch, outcome: Any, why: str) -> None:
    def run(*_: Any) -> Ended:
        if isinstance(outcome, Exception):
            raise outcome
        found: Ended = outcome
        return found

    monkeypatch.setattr(diagnose, "run", run)
    found = diagnosed(None, sick(), [host_engine()], validation(), OPERATORS)  # type: ignore[arg-type]
    assert found is not None
    assert why in found["failed"]
    case = case_of(sick(), MACHINE, [], measured(), TAKEN, dcgm=found)
    assert why in ticket(case)
    assert not [line for line in problems_of(case) if "DCGM" in line]


def test_what_is_wrong_with_a_gpu_is_told_with_its_number_and_dcgms_words() -> None:
    found = diagnosis_of(HALF_LANES)
    assert (found["version"], found["driver"], len(found["serials"])) == ("4.5.2", "580.159.04", 8)
    assert findings(found) == [
        *("software: Pass on 8 GPUs", "memory: Pass on 8 GPUs", "pcie: Pass on 7 GPUs"),
        f"pcie: Fail, GPU 5: {WIDTH}",
    ]


def test_a_test_that_passed_with_a_warning_has_its_words_in_the_ticket() -> None:
    words = "Couldn't allocate at least 75.0% of GPU memory"
    found = diagnosis_of(of_4(("memory", [{**fails(0, words), "status": "Pass"}])))
    assert any(line.startswith("memory: Pass, GPU 0") and words in line for line in findings(found))
    assert not [line for line in findings(found) if "8 GPUs" in line and "memory" in line]


def test_a_summary_repeats_nothing_and_what_only_it_says_is_kept() -> None:
    document = json.loads(HALF_LANES)
    summary = document["DCGM Diagnostic"]["test_categories"][0]["tests"][0]["test_summary"]
    summary |= {"status": "Fail", "warnings": [{"warning": "No library", "error_category": 4}]}
    told = [line for line in findings(diagnosis_of(json.dumps(document))) if "Fail" in line]
    assert told[0] == "software: Fail: No library (a setting or a program, no fault of the GPU)"
    assert len(told) == 2


def test_lines_before_and_after_the_document_are_kept() -> None:
    complaint = "Error: unable to establish a connection to the specified host: 10.244.1.7:5555"
    found = diagnosis_of(f"{complaint}\n{HALF_LANES}\nlater {{}}\n")
    assert found["said"] == [complaint, "later {}"]
    assert f"- {complaint}" in ticket(case_of(sick(), MACHINE, [], Machine(), TAKEN, dcgm={**found, **ASKED}))


ASKED = {"pod": ENGINE.pod, "command": "dcgmi diag -r 2 -j", "promised": 8}


@pytest.mark.parametrize("name", ["DCGM Diagnostic", "DCGM GPU Diagnostic"])
def test_a_diagnosis_that_did_not_begin_says_why(name: str) -> None:
    error = "Error: Unable to complete diagnostic for group 7. Return: (-39) : A diag instance is already running\n"
    with pytest.raises(DiagnosticsError, match="already running"):
        diagnosis_of(json.dumps({name: {"version": "4.5.2", "runtime_error": error}}))


@pytest.mark.parametrize(
    "printed",
    [
        *("", "null", "[]", "{}", "Error: could not open /dev/nvidiactl", '{"DCGM Diagnostic": {', "{" * 100_000),
        *('{"DCGM Diagnostic": []}', '{"DCGM Diagnostic": {}}', '{"DCGM Diagnostic": {"test_categories": 7}}'),
        '{"DCGM Diagnostic": {"test_categories": [{"category": "x", "tests": [{"name": "y", "results": [7]}]}]}}',
        '{"DCGM Diagnostic": {"test_categories": [null]}, "metadata": 7}',
        '{"DCGM Diagnostic": {"test_categories": []}}',
    ],
)
def test_what_is_neither_form_is_refused_in_words(printed: str) -> None:
    with pytest.raises(DiagnosticsError) as refused:
        diagnosis_of(printed)
    assert 10 < len(str(refused.value)) < 600


@pytest.mark.parametrize(
    ("printed", "checks", "said"),
    [
        (HALF_LANES, [check("gpu-pcie", 5)], "GPU 5: both find it bad: DCGM by pcie, the validation by gpu-pcie"),
        (HALF_LANES, [], "GPU 5: DCGM finds it bad by pcie; the validation of yesterday does not"),
        (
            of_4(),
            [check("gpu-pcie", 5)],
            "GPU 5: they disagree: the validation finds it bad by gpu-pcie, DCGM does not",
        ),
        (
            of_4(),
            [check("gpu-throttling", 3), check("gpu-rate", 3)],
            "GPU 3: the validation finds it bad by gpu-throttling, gpu-rate, at which DCGM's level 2 does not look",
        ),
        (of_4(gpus=7), [], "DCGM sees 7 of 8 GPUs"),
        (of_4(), [], "neither DCGM nor the validation of yesterday finds a GPU bad"),
    ],
)
def test_where_it_agrees_with_the_validation_and_where_not_is_said(printed: str, checks: Any, said: str) -> None:
    assert beside({**diagnosis_of(printed), **ASKED}, checks, [], "yesterday") == {"second_opinion": [said]}


def test_without_a_validation_no_agreement_is_claimed() -> None:
    said = [beside({**diagnosis_of(printed), **ASKED}, [], [], None) for printed in (of_4(), HALF_LANES)]
    assert [each["second_opinion"][0].partition("; ")[2] for each in said] == [
        "no validation has measured them",
        "no validation has measured it",
    ]


def test_gpus_that_dcgm_numbers_otherwise_are_matched_by_serial_number() -> None:
    gpus = [{"index": str(7 - number), "serial": f"165{number}"} for number in range(8)]
    (line,) = beside({**diagnosis_of(HALF_LANES), **ASKED}, [check("gpu-pcie", 2)], gpus, "yesterday")["second_opinion"]
    assert line.startswith("GPU 2: both")


def test_a_gpu_that_it_finds_bad_is_a_problem_and_the_category_of_azures_report() -> None:
    found = {**diagnosis_of(HALF_LANES), **ASKED}
    case = case_of(sick(), {**MACHINE, "kernel": []}, [], measured(), TAKEN, dcgm=found)
    assert problems_of(case) == [f"DCGM: pcie: Fail, GPU 5: {WIDTH}"]
    made = health_report(case)
    assert made is not None
    assert made["body"]["properties"]["impactCategory"] == "Resource.Hpc.Unhealthy.HpcGpuDcgmDiagFailure"
    assert "as a second opinion" in ticket(case)


def test_a_setting_that_it_dislikes_is_shown_and_is_no_problem_of_the_machine() -> None:
    found = diagnosis_of(of_4(("software", [fails(0, "Persistence mode for GPU 0 is disabled.", 8)])))
    assert not [row for row in found["results"] if finds_bad(row)]
    assert "(a setting or a program, no fault of the GPU)" in findings(found)[1]
    case = case_of(sick(), {**MACHINE, "kernel": []}, [], measured(), TAKEN, dcgm={**found, **ASKED})
    assert problems_of(case) == []
    assert health_report(case) is None


class Refusing:
    """A cluster in which a Job's pod never starts: its time is up, and its controller deletes the pod."""

    def __init__(self) -> None:
        self.looks = 0
        self.deleted: list[str] = []

    def create(self, _: Any) -> None:
        pass

    def get(self, _: Any, name: str, **__: Any) -> Any:
        self.looks += 1
        over = [{"type": "Failed", "status": "True", "message": "longer than specified deadline"}]
        return Job.from_dict({"metadata": {"name": name}, "status": {"conditions": over if self.looks > 1 else []}})

    def list(self, _: Any, **__: Any) -> list[Any]:
        state = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}}
        dcgmi = {"name": "dcgmi", "image": "x", "imageID": "", "ready": False, "restartCount": 0, "state": state}
        there = {"metadata": {"name": "p"}, "status": {"containerStatuses": [dcgmi]}}
        return [Pod.from_dict(there)] if self.looks == 1 else []

    def log(self, *_: Any, **__: Any) -> Any:
        raise ConnectError("pods p not found")

    def delete(self, _: Any, name: str, **__: Any) -> None:
        self.deleted.append(name)


def test_a_pod_that_never_starts_is_taken_away_and_why_it_did_not_start_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("aks_infiniband_cli.validate.run.time.sleep", lambda _: None)
    cluster: Any = Refusing()
    ended = run(cluster, job_of(node("b"), ENGINE, validation(), "t"))
    assert ended.why == "longer than specified deadline; Back-off pulling image; pods p not found"
    assert cluster.deleted == ["dcgm-t"]
