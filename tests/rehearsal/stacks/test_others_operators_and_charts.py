"""CHARTS and OPERATORS: charts that a user packed, and operators that are not the rehearsal's, bring the stack up."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.apps_v1 import DaemonSet

from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.engine_runs import Outcome

from . import foreign_operators
from .conftest import Stack

pytestmark = pytest.mark.long

WORKER = "network-operator-node-feature-discovery-worker"


def daemon_sets(stack: Stack) -> list[dict[str, Any]]:
    return [daemon_set.to_dict() for daemon_set in stack.cluster().list(DaemonSet, namespace="network-operator")]


def packed_charts(folder: Path) -> Path:
    """The two charts as `helm package` leaves them: archives with their subcharts inside."""
    folder.mkdir()
    for name in ("network-operator", "gpu-operator"):
        with tarfile.open(folder / f"{name}-1.0.0.tgz", "w:gz", dereference=True) as archive:
            archive.add(STAND_IN_CHARTS / name, arcname=name)
    return folder


@pytest.fixture(scope="module")
def others(rehearse_ours: RehearseOurs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stack, Outcome]]:
    charts = packed_charts(tmp_path_factory.mktemp("others") / "charts")
    stack = rehearse_ours("dev", charts=charts, operators=False)
    with foreign_operators.running(stack.cluster):
        yield stack, stack.up()


def test_machines_come_alive_for_operators_that_are_not_the_rehearsals(others: tuple[Stack, Outcome]) -> None:
    stack, outcome = others
    assert outcome.succeeded, outcome.said
    assert "operators" not in stack.rehearsal.run.read_run_json()["parts"]
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool="ndh100")]
    assert [(node["rdma/shared_ib"], node["nvidia.com/gpu"]) for node in offered] == [("63", "8")] * 2
    assert stack.outputs()["pools"]["ndh100"]["validation"]["verdict"] == "pass"
    managers = {
        field["manager"]
        for daemon_set in daemon_sets(stack)
        for field in daemon_set["metadata"]["managedFields"]
        if daemon_set["metadata"]["name"] != WORKER
    }
    assert managers == {"foreign", "kube-controller-manager"}


def test_charts_come_from_the_archives(others: tuple[Stack, Outcome]) -> None:
    stack, outcome = others
    assert outcome.succeeded, outcome.said
    assert WORKER in {daemon_set["metadata"]["name"] for daemon_set in daemon_sets(stack)}, "the archive's subchart"
    states = [path.read_text() for path in stack.rehearsal.run.pulumi.glob("backend/.pulumi/stacks/**/dev.json")]
    resources = [item for state in states for item in json.loads(state)["checkpoint"]["latest"]["resources"]]
    charts = {item["inputs"]["chart"] for item in resources if item["type"] == "kubernetes:helm.sh/v3:Release"}
    assert charts == {str(path) for path in stack.rehearsal.charts.glob("*.tgz")}
