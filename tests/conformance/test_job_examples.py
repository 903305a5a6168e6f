"""The programs in examples/jobs print documents that their controllers' definitions take, for the pools of the stacks
in this project.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from aks_infiniband import load, nccl_environment
from aks_infiniband.workload.pods import pod_template_fragment

from rehearsal.tools.paths import PROJECT
from tests.conformance.notation import schema_of

FOLDER = PROJECT / "examples" / "jobs"
DEFINITIONS: dict[str, Any] = yaml.safe_load((PROJECT / "tests/conformance/job-controllers.yaml").read_text())
JOB = DEFINITIONS["JobSet"]["spec"]["replicatedJobs"][0]["template!"]["spec"]
"""Fields of a Job, as the definition of a JobSet has it."""
KINDS = {
    "indexed-job": ["Service", "Job"],
    "job-set": ["JobSet"],
    "train-job": ["TrainingRuntime", "TrainJob"],
    "pytorch-job": ["PyTorchJob"],
    "mpi-job": ["MPIJob"],
    "vllm": ["LeaderWorkerSet"],
    "training-step": ["ConfigMap", "Service", "Job"],
    "tcp-over-ipoib": ["Service", "Job"],
}
STACKS = {"tcp-over-ipoib": ("ipoib", "hbv4")}
"""The stack and the pool that an example is for, if it is not the pool ndh100 of dev."""

every_example = pytest.mark.parametrize("example", sorted(KINDS))


def pool_of(example: str) -> Any:
    stack, name = STACKS.get(example, ("dev", "ndh100"))
    config = yaml.safe_load((PROJECT / f"Pulumi.{stack}.yaml").read_text())["config"]
    (found,) = [pool for pool in load(config).pools if pool.name == name]
    return found


@cache
def printed(example: str, *queue: str) -> list[dict[str, Any]]:
    """The documents that the example makes of its pool's outputs. queue: Kueue's, at most one."""
    pool = pool_of(example)
    pools = {pool.name: {"nodeCount": pool.node_count, "podTemplate": pod_template_fragment(pool)}}
    command = [sys.executable, str(FOLDER / example / "job.py"), pool.name, "training", "ours:1", *queue]
    done = subprocess.run(command, input=json.dumps(pools), capture_output=True, text=True, check=False, cwd=PROJECT)
    assert done.returncode == 0, done.stderr
    listed: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return listed


def pods(document: Any) -> Iterator[dict[str, Any]]:
    """The spec of every pod in a document, however deep it lies."""
    if isinstance(document, dict):
        if "containers" in document:
            yield document
        for item in document.values():
            yield from pods(item)
    elif isinstance(document, list):
        for item in document:
            yield from pods(item)


@every_example
def test_an_example_makes_what_its_folder_is_named_after(example: str) -> None:
    assert [document["kind"] for document in printed(example)] == KINDS[example]
    assert {document["metadata"]["namespace"] for document in printed(example)} == {"training"}
    assert set(KINDS) == {path.parent.name for path in FOLDER.glob("*/job.py")}


@every_example
def test_the_definition_of_its_controller_takes_it(example: str) -> None:
    held = {**DEFINITIONS, "Job": {"apiVersion": "batch/v1", "spec": JOB}}
    documents = [document for document in printed(example) if document["kind"] not in ("Service", "ConfigMap")]
    assert documents
    for document in documents:
        definition = held[document["kind"]]
        assert document["apiVersion"] == definition["apiVersion"]
        errors = jsonschema.Draft202012Validator(schema_of(definition["spec"])).iter_errors(document["spec"])
        assert [f"{error.json_path}: {error.message}" for error in errors] == []


@every_example
def test_a_pod_on_the_machines_has_the_pools_devices_and_is_checked_before_its_program(example: str) -> None:
    pool = pool_of(example)
    asked = pod_template_fragment(pool)["spec"]["containers"][0]["resources"]["limits"]
    on_machines = [pod for document in printed(example) for pod in pods(document) if "nodeSelector" in pod]
    assert on_machines
    for pod in on_machines:
        (main,) = pod["containers"]
        assert (main["image"], main["resources"]["limits"]) == ("ours:1", asked)
        checked = main["command"] if example == "mpi-job" else pod["initContainers"][0]["command"]
        assert any("InfiniBand" in word or "IPoIB" in word for word in checked)
        assert pod["nodeSelector"] == pool.node_selector


@every_example
def test_the_page_of_the_examples_leads_to_it(example: str) -> None:
    assert f"]({example}/job.py)" in Path(FOLDER / "README.md").read_text()


def test_the_ranks_of_an_mpi_job_get_the_pools_environment_which_sshd_would_keep_from_them() -> None:
    (document,) = printed("mpi-job")
    (launcher,) = document["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]["containers"]
    words = launcher["command"]
    handed_on = dict(word.split("=", 1) for flag, word in pairwise(words) if flag == "-x")
    assert handed_on == {**nccl_environment(), "NCCL_TOPO_FILE": "/etc/aks-infiniband/nccl-topology.xml"}


@every_example
def test_a_queue_is_a_label_of_the_job_and_changes_nothing_else_but_how_often_mpirun_tries(example: str) -> None:
    *_, alone = printed(example)
    *_, queued = deepcopy(printed(example, "research"))
    assert queued["metadata"].pop("labels") == {"kueue.x-k8s.io/queue-name": "research"}
    if example == "mpi-job":
        queued["spec"]["runPolicy"]["backoffLimit"] = 0
    assert queued == alone
