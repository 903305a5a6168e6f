"""A rehearsal's words on charts that it lacks, and on programs that it did not run."""

import tarfile
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lightkube.resources.core_v1 import Event

from rehearsal.outcome import left_out
from rehearsal.stack import operator_charts, stack_file
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS

CHARTS = stack_file.find_charts(STAND_IN_CHARTS)
"""As a folder that CHARTS= names: one version of each."""


def test_an_archive_of_a_chart_has_the_version_and_the_definitions_of_its_folder(tmp_path: Path) -> None:
    folder = CHARTS["gpuOperator"]
    packed = tmp_path / "gpu-operator-v26.3.3.tgz"
    with tarfile.open(packed, "w:gz", dereference=True) as archive:
        archive.add(folder, arcname="gpu-operator")
    assert operator_charts.version_of(packed) == operator_charts.version_of(folder) == "v26.3.3"
    names = [
        sorted(each["metadata"]["name"] for each in operator_charts._definitions(chart)) for chart in (packed, folder)
    ]
    assert names[0] == names[1]
    assert {"clusterpolicies.nvidia.com", "nodefeatures.nfd.k8s-sigs.io"} <= set(names[0])


def test_a_chart_is_not_renewed_for_a_definition_that_it_shares_with_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU Operator's brings Node Feature Discovery as a subchart, as the Network Operator's does."""
    there = [SimpleNamespace(metadata=SimpleNamespace(name="nodefeatures.nfd.k8s-sigs.io"))]
    client = SimpleNamespace(list=lambda _: there)
    monkeypatch.setattr(operator_charts, "Client", lambda **_: client)
    monkeypatch.setattr("rehearsal.stack.operator_charts.KubeConfig.from_file", lambda _: None)
    assert operator_charts.renew_definitions(tmp_path, {"gpuOperator": CHARTS["gpuOperator"]}) == []


def test_what_was_taken_to_succeed_is_named_by_its_job_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = "Container upgrade-crd is not run: simulated machines lack manage-crds. The run continues"

    def event(pod: str, moment: str) -> dict[str, Any]:
        return {
            "metadata": {"name": f"{pod}.1", "namespace": "gpu-operator"},
            "involvedObject": {"namespace": "gpu-operator", "name": pod},
            "message": message,
            "lastTimestamp": moment,
        }

    told = [event("gpu-operator-upgrade-crd-x2v9k", "2026-11-23T20:00:00Z")] * 2
    told.append(event("of-an-earlier-command-aaaaa", "2026-11-23T19:00:00Z"))

    class Client:
        def __init__(self, **_: Any) -> None:
            pass

        def list(self, *_: Any, fields: Any, **__: Any) -> Any:
            assert fields == {"reason": "NotRehearsed", "type": "Warning"}
            return [Event.from_dict(each) for each in told]

    assert left_out.not_run(tmp_path / "kubeconfig", 0) == [], "there is no cluster"
    monkeypatch.setattr(left_out, "Client", Client)
    monkeypatch.setattr("rehearsal.outcome.left_out.KubeConfig.from_file", lambda _: None)
    begun = datetime.fromisoformat("2026-11-23T19:30:00Z").timestamp()
    assert left_out.not_run(tmp_path, begun) == [f"gpu-operator/gpu-operator-upgrade-crd: {message}"]
