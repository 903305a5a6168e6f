"""Mistakes that only files show: each of them stands in the same error as those of the settings."""

from pathlib import Path

import pulumi
import pytest

from tests.unit.components.stack_files import changed, existing, loaded, mistakes, pool

NOWHERE = "no-such-file"


def test_mistakes_of_files_names_and_settings_are_told_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi, "get_stack", lambda: "feature.x")
    found = mistakes(
        changed(
            pools=[pool(count=101, ncclTopology=NOWHERE)],
            networkOperator={"valuesFile": None, "values": {"nfd": {"enabled": False}}},
            gpuOperator={"valuesFile": NOWHERE},
        )
    )
    assert set(found) == {
        "pools[0].count",
        "pools[0].ncclTopology",
        "networkOperator.values.nfd.enabled",
        "gpuOperator.valuesFile",
        "cluster.name",
    }


def test_a_kubeconfig_that_cannot_be_read_is_told_beside_the_others() -> None:
    stack = existing(pool(count=1, nodeSelector={"a": "b"}))
    stack["aks-infiniband:existingCluster"] = {"kubeconfig": NOWHERE}
    found = mistakes(stack)
    assert set(found) == {"pools[0].count", "existingCluster.kubeconfig"}
    assert found["existingCluster.kubeconfig"].startswith(f"is {NOWHERE!r}; the kubeconfig {Path.cwd() / NOWHERE} can")


def test_a_program_of_somebody_elses_need_not_have_the_default_files_of_values(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded()
    assert set(mistakes(changed(gpuOperator={"valuesFile": "values/gpu-operator.yaml"}))) == {"gpuOperator.valuesFile"}
