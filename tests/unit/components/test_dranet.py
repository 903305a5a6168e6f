"""Mode dra: the driver on the nodes, the class of its devices, the claims of pods, and what is refused."""

import re
from typing import Any

import pytest
from aks_infiniband.facts.dranet import DEVICE_CLASS
from aks_infiniband.hosts.dranet import Dranet, DranetArgs, device_class_spec, rules
from aks_infiniband.hosts.dranet_nodes import unsuitable
from aks_infiniband.light_check.documents import cron_job_spec
from aks_infiniband.resources.registry import Registry
from aks_infiniband.workload.checked import Workload
from aks_infiniband.workload.claims import claim_template_spec, template_name
from aks_infiniband.workload.jobs import indexed_job
from aks_infiniband.workload.pods import pod_template_fragment
from aks_infiniband.workload.sample_job import sample_job

from declared.pulumi_mocks import Deploy
from tests.some_pools import HBV4, pool
from tests.unit.components.rdma_programs import DAEMON_SET, JOB, program

CLAIMING = pool(mode="dra", nic_driver="inbox")


def test_a_pod_claims_every_hca_of_a_machine_and_needs_no_privilege() -> None:
    spec = pod_template_fragment(CLAIMING)["spec"]
    assert spec["resourceClaims"] == [{"name": "infiniband", "resourceClaimTemplateName": "infiniband-ndh100"}]
    (main,) = spec["containers"]
    assert main["resources"] == {
        "requests": {"nvidia.com/gpu": "8"},
        "limits": {"nvidia.com/gpu": "8"},
        "claims": [{"name": "infiniband"}],
    }
    assert main["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    (request,) = claim_template_spec(CLAIMING)["spec"]["devices"]["requests"]
    assert request["exactly"] == {"deviceClassName": DEVICE_CLASS, "allocationMode": "ExactCount", "count": 8}


def test_every_container_that_looks_at_hcas_has_the_claim_too() -> None:
    template = pod_template_fragment(CLAIMING)
    workload = Workload(name="train", namespace="team", template=template, machines=2, image="team/train:1")
    jobs = [
        made for made in (*indexed_job(workload, ["train"]), *sample_job(CLAIMING)["items"]) if made["kind"] == "Job"
    ]
    assert len(jobs) == 2
    for job in jobs:
        pod = job["spec"]["template"]["spec"]
        for container in (*pod["initContainers"], *pod["containers"]):
            assert container["resources"]["claims"] == [{"name": "infiniband"}], container["name"]


@pytest.mark.parametrize("mode", ["rdma-shared", "sriov", "driver-only"])
def test_pods_of_other_modes_claim_nothing(mode: Any) -> None:
    spec = pod_template_fragment(pool(mode=mode))["spec"]
    assert "resourceClaims" not in spec
    assert "claims" not in spec["containers"][0]["resources"]


def test_the_drivers_account_writes_nothing_but_slices_events_and_the_status_of_claims() -> None:
    writing = {"create", "update", "patch", "delete", "associated-node:patch", "associated-node:update"}
    written_to = {resource for rule in rules() if writing & set(rule["verbs"]) for resource in rule["resources"]}
    assert written_to == {"resourceslices", "events", "resourceclaims/status", "resourceclaims/driver"}
    assert not any("*" in value for rule in rules() for values in rule.values() for value in values)


def test_the_class_leaves_out_the_ethernet_device_and_asks_for_no_attribute_that_may_be_absent() -> None:
    (selector,) = device_class_spec()["selectors"]
    expression = selector["cel"]["expression"]
    assert '!("ifName" in device.attributes["dra.net"])' in expression
    assert expression.index('"rdma" in device.attributes["dra.net"]') < expression.index('attributes["dra.net"].rdma')


def test_the_component_makes_the_class_and_an_account_before_the_driver(deploy: Deploy) -> None:
    deployment = deploy(lambda: Dranet("dranet", args=DranetArgs(pools=[CLAIMING], namespace="system")))
    driver = deployment.one(DAEMON_SET)
    binding = deployment.one("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")
    assert binding.urn in driver.request["dependencies"]
    assert deployment.one("kubernetes:resource.k8s.io/v1:DeviceClass").inputs["metadata"]["name"] == DEVICE_CLASS


def test_the_drivers_account_is_held_to_its_own_node_before_it_has_a_right(deploy: Deploy) -> None:
    deployment = deploy(lambda: Dranet("dranet", args=DranetArgs(pools=[CLAIMING], namespace="system")))
    admission = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"
    specs = {made.inputs["metadata"]["name"]: made.inputs["spec"] for made in deployment.all(admission)}
    assert set(specs) == {f"aks-infiniband-dranet{end}" for end in ("", "-claims", "-events")}
    for spec in specs.values():
        assert "system:serviceaccount:system:dranet" in spec["matchConditions"][0]["expression"]
        assert any("variables.node" in rule["expression"] for rule in spec["validations"])
    binding = deployment.one("kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding")
    limits = [*deployment.all(admission), *deployment.all(f"{admission}Binding")]
    assert {limit.urn for limit in limits} <= set(binding.request["dependencies"])


def test_a_validation_in_mode_dra_waits_for_dranet(deploy: Deploy) -> None:
    deployment = deploy(program(networkOperator={"mode": "dra", "driver": "inbox", "valuesFile": None}))
    (driver,) = [found for found in deployment.all(DAEMON_SET) if found.inputs["metadata"]["name"] == "dranet"]
    for job in deployment.all(JOB):
        assert driver.urn in job.request["dependencies"]
    templates = deployment.all("kubernetes:resource.k8s.io/v1:ResourceClaimTemplate")
    spaces = {template.inputs["metadata"]["namespace"] for template in templates}
    assert spaces == {"aks-infiniband", "aks-infiniband-system"}


def test_the_light_check_claims_every_hca_so_that_only_an_idle_node_takes_it() -> None:
    spec = cron_job_spec(CLAIMING, schedule="0 * * * *", namespace="ns", given={}, registry=Registry())
    pod = spec["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["resources"]["claims"] == [{"name": "infiniband"}]
    assert pod["resourceClaims"][0]["resourceClaimTemplateName"] == template_name("ndh100")
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "8"


def node(**info: str) -> dict[str, Any]:
    said = {"kubeletVersion": "v1.35.2", "containerRuntimeVersion": "containerd://2.3.2-1", **info}
    labels = {"kubernetes.azure.com/agentpool": "ndh100"}
    return {"metadata": {"name": "n0", "labels": labels}, "status": {"nodeInfo": said, "allocatable": {}}}


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({}, None),
        ({"kubeletVersion": "v1.33.9"}, "n0.*Kubernetes 1.33.*1.34"),
        ({"containerRuntimeVersion": "containerd://1.7.30-1"}, "n0.*containerd://1.7.30-1"),
    ],
)
def test_an_existing_node_that_is_too_old_for_claims_is_named(info: dict[str, str], words: str | None) -> None:
    found = [what for what, _ in unsuitable([CLAIMING, pool(HBV4, "hb")], [node(**info)])]
    assert len(found) == (words is not None)
    assert not words or re.search(words, found[0])


def test_an_existing_node_with_an_rdma_device_plugin_is_named_because_both_would_hand_out_one_hca() -> None:
    taken = node()
    taken["status"]["allocatable"] = {"rdma/ib": "8", "cpu": "96", "rdma/none": "0"}
    ((what, do),) = unsuitable([CLAIMING], [taken])
    assert "rdma/ib" in what
    assert "rdma/none" not in what
    assert "device plugin" in do
