"""docs/storage.md: the text that people copy fits the pools and jobs that there are."""

from typing import Any

import pytest
import yaml
from aks_infiniband import Workload, indexed_job
from aks_infiniband.workload.pods import pod_template_fragment

from tests.snippets import snippets
from tests.some_pools import HBV4, pool

POOLS = [pool(), pool(HBV4, "hbv4")]
MANIFESTS = [document for text in snippets("storage.md", "yaml") for document in yaml.safe_load_all(text)]
CLAIMS = [document for document in MANIFESTS if document["kind"] == "PersistentVolumeClaim"]


@pytest.fixture
def with_data() -> Any:
    (program,) = snippets("storage.md", "python")
    found: dict[str, Any] = {}
    exec(compile(program, "docs/storage.md", "exec"), found)  # the page's own program
    return found["with_data"]


@pytest.mark.parametrize("of", POOLS, ids=lambda of: of.name)
def test_the_pages_function_adds_the_claim_and_keeps_what_the_pool_mounts(with_data: Any, of: Any) -> None:
    before = pod_template_fragment(of)["spec"]["containers"][0]["volumeMounts"]
    (claim,) = {document["metadata"]["name"] for document in CLAIMS}
    template = with_data(pod_template_fragment(of), claim)
    job = indexed_job(Workload(name="train", namespace="training", template=template, machines=2, image="ours"), ["x"])
    pod = job[-1]["spec"]["template"]["spec"]
    (main,) = pod["containers"]
    assert main["volumeMounts"] == [*before, {"name": "data", "mountPath": "/data"}]
    assert {"name": "data", "persistentVolumeClaim": {"claimName": claim}} in pod["volumes"]
    assert {mount["name"] for mount in main["volumeMounts"]} <= {volume["name"] for volume in pod["volumes"]}


def test_every_claim_of_the_page_can_be_mounted_by_all_pods_of_a_job() -> None:
    assert len(CLAIMS) == 2
    for claim in CLAIMS:
        assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
        assert claim["metadata"]["namespace"] == "training"


def test_a_class_that_the_page_makes_is_the_one_that_its_claim_asks_for_and_keeps_the_data() -> None:
    (made,) = [document for document in MANIFESTS if document["kind"] == "StorageClass"]
    assert made["metadata"]["name"] in {claim["spec"]["storageClassName"] for claim in CLAIMS}
    assert made["reclaimPolicy"] == "Retain"
