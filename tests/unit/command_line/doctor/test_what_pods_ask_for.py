"""A pod that may have InfiniBand is never said to lack it, whatever its device plugin or claim is called."""

import json
import runpy
import sys
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband import pod_template_fragment
from aks_infiniband.facts.catalog.machine import Mode
from aks_infiniband.workload import jobs
from aks_infiniband.workload.checked import Workload
from aks_infiniband_cli.doctor.examine import examine

from tests.some_pools import GB300, H100, pool
from tests.unit.command_line.cases.sick import add_pods
from tests.unit.command_line.doctor.sick_clusters import healthy

CLUSTER_OF: Mapping[Mode, str] = {
    "rdma-shared": "dev", "sriov": "mixed", "ipoib": "dev", "dra": "dev", "driver-only": "dev",
}  # fmt: skip
"""A recorded cluster whose device plugins offer what the mode's pods request."""
JOBS = {
    "indexed_job": lambda asked: jobs.indexed_job(asked, ["train"]),
    "tcp_job": lambda asked: jobs.tcp_job(asked, ["train"]),
    "job_set": lambda asked: jobs.job_set(asked, ["train"]),
    "train_job": lambda asked: jobs.train_job(asked, ["train"]),
    "pytorch_job": lambda asked: jobs.pytorch_job(asked, ["train"]),
    "mpi_job": lambda asked: jobs.mpi_job(asked, ["mpirun", "train"]),
    "vllm_server": lambda asked: jobs.vllm_server(asked, model="a/model"),
}


def templates(document: Any) -> Iterator[dict[str, Any]]:
    """The pod templates in a document that request devices."""
    if isinstance(document, dict):
        spec = document.get("spec")
        if isinstance(spec, dict) and any("resources" in each for each in spec.get("containers") or []):
            yield document
        for item in document.values():
            yield from templates(item)
    elif isinstance(document, list):
        for item in document:
            yield from templates(item)


def assert_accuses_nothing(mode: Mode, template: Mapping[str, Any]) -> None:
    cluster = healthy(CLUSTER_OF[mode])
    add_pods(cluster, template)
    assert [(diagnosis.symptom.id, diagnosis.evidence) for diagnosis in examine(cluster)] == []


PAIRS = [(kind, mode) for kind in JOBS for mode in CLUSTER_OF if kind != "tcp_job" or mode == "ipoib"]
EXAMPLES = {path.parent.name: path for path in sorted((Path(__file__).parents[4] / "examples/jobs").glob("*/job.py"))}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_job_of_the_examples_on_a_healthy_cluster_accuses_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mode: Mode = "ipoib" if name == "tcp-over-ipoib" else "rdma-shared"
    about = {"podTemplate": pod_template_fragment(pool(H100, mode=mode)), "nodeCount": 2}
    said = StringIO()
    monkeypatch.setattr(sys, "argv", ["job.py", "ndh100", "apps", "ours:1"])
    monkeypatch.setattr(sys, "stdin", StringIO(json.dumps({"ndh100": about})))
    monkeypatch.setattr(sys, "stdout", said)
    runpy.run_path(str(EXAMPLES[name]))
    monkeypatch.undo()
    found = list(templates(json.loads(said.getvalue())))
    assert found
    for template in found:
        assert_accuses_nothing(mode, template)


@pytest.mark.parametrize(("kind", "mode"), PAIRS)
def test_our_own_templates_on_a_healthy_cluster_accuse_nothing(kind: str, mode: Mode) -> None:
    fragment = pod_template_fragment(pool(H100, mode=mode))
    asked = Workload(name="train", namespace="apps", machines=2, image="ours", template=fragment)
    found = list(templates(JOBS[kind](asked)))
    assert found
    for template in found:
        assert_accuses_nothing(mode, template)


@pytest.mark.parametrize("size", [H100, GB300])
@pytest.mark.parametrize("mode", CLUSTER_OF)
def test_the_template_of_a_pool_accuses_nothing(mode: Mode, size: str) -> None:
    gpus = pool(size, mode=mode, ipoib_devices=("ibP1s1",))
    assert_accuses_nothing(mode, pod_template_fragment(gpus))
