"""Reports in files: what `validate --out` keeps is read by `evidence` and `report`."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband_cli.bad_machines.evidence import collecting
from aks_infiniband_cli.main import main
from aks_infiniband_cli.validate.report_file import whole_reports
from aks_infiniband_cli.validate.unmanaged import holding, rights

from tests.unit.command_line.cases.clusters import patch_cluster
from tests.unit.command_line.test_report_page import report, state
from tests.unit.command_line.validations import kubeconfig_in

SLOW = make_check("hca-rate", "fail", node="aks-a", device="mlx5_3", expected=400, measured=200, unit="Gb/s")
REPORT = report(checks=[SLOW])
KEPT = {"schema_version": 1, "pools": {"nd": {"report": None}, "ndh100": {"report": REPORT}}}


def test_whole_reports_are_read_in_every_form_in_which_people_have_them() -> None:
    for form in (json.dumps(REPORT), json.dumps(KEPT), state(REPORT)):
        assert whole_reports(form, "f") == {"ndh100": REPORT}


def test_the_page_is_made_of_the_file_that_validate_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept.json").write_text(json.dumps(KEPT))
    assert main(["report", "--report", str(tmp_path / "kept.json"), "--out", str(tmp_path)]) == 1
    assert "pool ndh100: fail" in capsys.readouterr().out
    assert "hca-rate" in (tmp_path / "report.html").read_text()


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The namespaces in which a machine was read, in a cluster without a stack."""
    places = list[str]()

    def ask(_: Any, __: str, validation: Any) -> Any:
        places.append(validation.namespace)
        return {"physical_host_name": "GGBB", "image": validation.template["spec"]["initContainers"][0]["image"]}

    patch_cluster({"others": {"aks-a": {}, "system": {"size": None}}}, monkeypatch)
    monkeypatch.setattr(collecting, "ask", ask)
    monkeypatch.setattr(rights, "require", lambda *_: None)
    monkeypatch.setattr(holding, "brought", lambda *_: nullcontext())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kept.json").write_text(json.dumps(KEPT))
    return places


def test_a_machine_has_its_evidence_without_a_stack_with_what_the_file_says(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["evidence", "aks-a", "--kubeconfig", str(kubeconfig_in(tmp_path))]
    assert main([*words, "--report", "kept.json"]) == 0
    told = capsys.readouterr().out
    assert "Physical host: GGBB" in told
    assert "hca-rate (mlx5_3): 200" in told.partition("What is wrong:")[2].partition("\n\n")[0]
    assert [place.startswith("aks-infiniband-run-") for place in asked] == [True]
    kept = json.loads((tmp_path / "evidence-aks-a.json").read_text())
    assert kept["measured_by"] == "validate (kept.json)"
