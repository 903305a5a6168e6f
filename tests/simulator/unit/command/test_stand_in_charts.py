"""The stand-in that takes the place of a chart, and the charts without one."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.facts import releases

from rehearsal.stack.operator_charts import version_of
from rehearsal.stack.stack_file import CHARTS, find_charts
from rehearsal.stack.stand_in_charts import FIRST, RELEASES, STAND_IN_CHARTS, charts_for, merged, stand_in


def config(release: object = None, **charts: Any) -> dict[str, Any]:
    sections = {f"aks-infiniband:{setting}": {"chart": {"version": version}} for setting, version in charts.items()}
    return {**({} if release is None else {"aks-infiniband:release": release}), **sections}


def test_there_is_a_stand_in_of_every_release_that_a_stack_file_can_name() -> None:
    assert set(RELEASES) == set(releases.OPERATOR_RELEASES)
    assert releases.DEFAULT_RELEASE.name == FIRST


@pytest.mark.parametrize("release", releases.OPERATOR_RELEASES.values(), ids=lambda release: release.name)
def test_a_release_is_rehearsed_with_the_charts_that_it_pins(release: releases.Release, tmp_path: Path) -> None:
    charts = charts_for(config(release.name), STAND_IN_CHARTS, into=tmp_path)
    assert {setting: version_of(charts[setting]) for setting in CHARTS} == {
        setting: release.operator(name).chart.version for setting, name in CHARTS.items()
    }


def test_without_a_release_they_are_the_first_and_nothing_is_made(tmp_path: Path) -> None:
    assert charts_for({}, STAND_IN_CHARTS, into=tmp_path) == find_charts(STAND_IN_CHARTS)
    assert list(tmp_path.iterdir()) == []


def test_the_stand_ins_are_known_through_a_link_too(tmp_path: Path) -> None:
    link = tmp_path / "charts"
    link.symlink_to(STAND_IN_CHARTS)
    assert version_of(charts_for(config("26.7"), link, into=tmp_path / "made")["gpuOperator"]) == "v26.7.0"


def test_a_later_chart_has_all_of_the_first_and_what_differs(tmp_path: Path) -> None:
    first, later = (stand_in(release, "gpu-operator", into=tmp_path) for release in ("26.4", "26.7"))
    templates = [path.name for path in sorted((first / "templates").iterdir())]
    hook = "cleanup_gpucluster.yaml"
    assert [path.name for path in sorted((later / "templates").iterdir())] == sorted([*templates, hook])
    assert "helm.sh/hook: pre-delete" in (later / "templates" / hook).read_text()
    assert (later / "charts/node-feature-discovery/crds").is_dir()
    new = {path.name for path in (later / "crds").iterdir()} - {path.name for path in (first / "crds").iterdir()}
    assert new == {
        "nvidia.com_gpuclusters.yaml",
        "resource.nvidia.com_computedomains.yaml",
        "resource.nvidia.com_computedomaincliques.yaml",
    }
    values = yaml.safe_load((later / "values.yaml").read_text())
    assert values["driver"]["version"] == "595.91.07"
    assert values["driver"]["upgradePolicy"]["maxParallelUpgrades"] == 1, "as before"


def test_what_is_made_twice_is_written_once(tmp_path: Path) -> None:
    made = stand_in("26.7", "network-operator", into=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in made.rglob("*")}
    assert stand_in("26.7", "network-operator", into=tmp_path) == made
    assert {path: path.stat().st_mtime_ns for path in made.rglob("*")} == before


def test_lists_are_merged_where_their_elements_are_as_many_mappings() -> None:
    assert merged({"a": [{"b": 1, "c": 2}], "d": [1]}, {"a": [{"c": 3}], "d": [2, 3]}) == {
        "a": [{"b": 1, "c": 3}],
        "d": [2, 3],
    }
