"""DCGM as a second opinion in the evidence: the condition for a call, its output, and its relation to our verdict."""

from typing import Any

import pytest
from aks_infiniband.validation.machines import Machine
from aks_infiniband_cli.bad_machines.evidence.case import case_of, problems_of
from aks_infiniband_cli.bad_machines.evidence.dcgm import diagnose
from aks_infiniband_cli.bad_machines.evidence.dcgm.asking import has_gpus, job_of
from aks_infiniband_cli.bad_machines.evidence.dcgm.diagnose import diagnosed
from aks_infiniband_cli.bad_machines.evidence.dcgm.reader import DiagnosticsError, diagnosis_of
from aks_infiniband_cli.bad_machines.evidence.node_job import Ended, run_job
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket
from httpx2 import ConnectError
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod

from tests.unit.command_line.cases.host_engines import ENGINE, OPERATORS, host_engine
from tests.unit.command_line.cases.ill_machines import MACHINE, TAKEN, measured, sick
from tests.unit.command_line.validations import node, validation


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
    job = job_of(node("b", unschedulable=True), ENGINE, validation(), "t")
    (container,) = job["spec"]["template"]["spec"]["containers"]
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

    monkeypatch.setattr(diagnose, "run_job", run)
    found = diagnosed(None, sick(), [host_engine()], validation(), OPERATORS)  # type: ignore[arg-type]
    assert found is not None
    assert why in found["failed"]
    case = case_of(sick(), MACHINE, [], measured(), TAKEN, dcgm=found)
    assert why in ticket(case)
    assert not [line for line in problems_of(case) if "DCGM" in line]


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
    ended = run_job(cluster, job_of(node("b"), ENGINE, validation(), "t"))
    assert ended.why == "longer than specified deadline; Back-off pulling image; pods p not found"
    assert cluster.deleted == ["dcgm-t"]
