"""The doctor reports the current state: events of objects that are gone, repaired or only share the name count for
nothing.
"""

import re

import pytest
from aks_infiniband.resources.metadata import NETWORK_OPERATOR_NAMESPACE
from aks_infiniband_cli.doctor.catalogue import catalogue
from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.looks.operands import operator_namespaces, operator_version
from aks_infiniband_cli.doctor.snapshot import Snapshot

from tests.unit.command_line.doctor.sick_clusters import healthy, sick


def symptoms(cluster: Snapshot) -> list[str]:
    return [diagnosis.symptom.id for diagnosis in examine(cluster)]


@pytest.mark.parametrize("image", ["network-operator:v25.1.0", "k8s-rdma-shared-dev-plugin:v1"])
def test_a_tenant_that_runs_an_operators_image_is_no_operator(image: str) -> None:
    cluster = healthy("dev")
    spec = {"replicas": 0, "template": {"spec": {"containers": [{"name": "c", "image": f"there/{image}"}]}}}
    metadata = {"name": "mine", "namespace": "team"}
    cluster.view.deployments.insert(0, {"kind": "Deployment", "metadata": metadata, "spec": spec, "status": {}})
    assert operator_namespaces(cluster) == {NETWORK_OPERATOR_NAMESPACE, "gpu-operator"}
    assert operator_version(cluster, "network-operator") == "26.4.1"
    assert symptoms(cluster) == []


@pytest.mark.parametrize("symptom", catalogue())
def test_what_helps_can_be_typed_as_it_stands(symptom: str) -> None:
    for found in examine(sick(symptom)):
        assert not re.search(r"\b(NODE|NEIGHBOUR|NAMESPACE|NAME)\b", found.fix), found.fix


def test_images_by_digest_are_known_by_their_names() -> None:
    cluster = healthy("mixed")
    for item in (*cluster.view.daemon_sets, *cluster.view.deployments):
        for container in item["spec"]["template"]["spec"]["containers"]:
            container["image"] = container["image"].partition(":")[0] + "@sha256:" + 64 * "0"
    assert symptoms(cluster) == []
