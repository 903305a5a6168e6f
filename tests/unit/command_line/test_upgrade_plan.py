"""`aks-infiniband upgrade` before it begins: flags and configuration; plans are in `cases`."""

import json
from typing import Any

import pytest
from aks_infiniband_cli.machine_by_machine.upgrade import run
from aks_infiniband_cli.main import main


@pytest.mark.parametrize("flag", ["--stop", "--release", "--back"])
def test_a_dry_run_of_what_has_no_plan_is_refused_and_does_nothing(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["upgrade", "-s", "dev", flag, "--dry-run"]) == 2
    assert "--dry-run shows the plan of --to or --node-image" in capsys.readouterr().err


@pytest.mark.parametrize("as_text", [False, True], ids=["YAML", "JSON text"])
def test_cluster_and_pools_take_the_version_in_each_form_that_the_loader_takes(as_text: bool) -> None:
    given: dict[str, Any] = {
        "aks-infiniband:cluster": {"kubernetesVersion": "1.35"},
        "aks-infiniband:pools": [{"name": "nd", "kubernetesVersion": "1.35"}],
    }
    configuration = {key: json.dumps(value) if as_text else value for key, value in given.items()}
    found = run._with(configuration, "1.36")
    assert found["aks-infiniband:cluster"] == {"kubernetesVersion": "1.36"}
    assert found["aks-infiniband:pools"] == [{"name": "nd"}]


@pytest.mark.parametrize("seconds", ["nan", "-1", "inf", "0", "soon", "86401"])
def test_a_time_out_that_is_none_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["upgrade", "--node-image", "--ready-timeout", seconds])
    assert "must be a number of seconds above 0, at most a day" in capsys.readouterr().err
