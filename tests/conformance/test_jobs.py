"""The templates of jobs are what their controllers' definitions take."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from aks_infiniband import SIZES, Pool, pod_template_fragment
from aks_infiniband.workload import jobs
from aks_infiniband.workload.checked import Workload

from tests.conformance.notation import schema_of

DEFINITIONS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("job-controllers.yaml").read_text())
POOL = Pool(name="h100", size=SIZES["Standard_ND96isr_H100_v5"], node_count=2, gpu_driver="operator")
WORKLOAD = Workload(
    name="train", namespace="training", template=pod_template_fragment(POOL), machines=2, image="ours", queue="research"
)
MADE = [
    *jobs.job_set(WORKLOAD, ["train"]),
    *jobs.train_job(WORKLOAD, ["train"]),
    *jobs.pytorch_job(WORKLOAD, ["train"]),
    *jobs.mpi_job(WORKLOAD, ["mpirun", "train"]),
    *jobs.vllm_server(WORKLOAD, model="a/model"),
]


@pytest.mark.parametrize("document", MADE, ids=[document["kind"] for document in MADE])
def test_a_controllers_definition_takes_the_template(document: dict[str, Any]) -> None:
    definition = DEFINITIONS[document["kind"]]
    assert document["apiVersion"] == definition["apiVersion"]
    errors = jsonschema.Draft202012Validator(schema_of(definition["spec"])).iter_errors(document["spec"])
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_every_definition_is_used() -> None:
    assert {document["kind"] for document in MADE} == DEFINITIONS.keys()


def test_an_unknown_field_would_be_refused() -> None:
    (document,) = jobs.job_set(WORKLOAD, ["train"])
    validator = jsonschema.Draft202012Validator(schema_of(DEFINITIONS["JobSet"]["spec"]))
    assert not validator.is_valid({**document["spec"], "maxRestarts": 0})
