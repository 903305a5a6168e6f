"""The composition: which resource waits for which, and which do not wait."""

import pytest

from tests.unit.components.rdma_programs import CLUSTER, FEATURE, JOB, POLICY, POOL, RELEASE, program
from tests.unit.pulumi_mocks import Deploy


def test_the_operators_wait_for_the_cluster_and_not_for_the_pools(deploy: Deploy) -> None:
    deployment = deploy(program())
    pool_urn = deployment.one(POOL).urn
    for release in deployment.all(RELEASE):
        assert pool_urn not in release.request.get("dependencies", [])
    assert pool_urn not in deployment.one(POLICY).request["dependencies"]


def test_the_cluster_does_not_wait_for_the_feature_and_the_pools_do(deploy: Deploy) -> None:
    deployment = deploy(program())
    feature = deployment.one(FEATURE).urn
    assert feature not in deployment.one(CLUSTER).request["dependencies"]
    assert feature in deployment.one(POOL).request["dependencies"]


def test_pools_do_not_wait_for_each_other(deploy: Deploy) -> None:
    two = (("ndh100", "Standard_ND96isr_H100_v5"), ("hx", "Standard_HX176rs"))
    pools = deploy(program(pools=two)).all(POOL)
    urns = {pool.urn for pool in pools}
    assert len(urns) == 2
    assert not any(urns & set(pool.request["dependencies"]) for pool in pools)


@pytest.mark.field_report("D8")
def test_the_policy_waits_for_the_release_that_brings_its_definition(deploy: Deploy) -> None:
    deployment = deploy(program())
    (release,) = [release for release in deployment.all(RELEASE) if release.name == "rdma-network-operator"]
    assert release.urn in deployment.one(POLICY).request["dependencies"]


@pytest.mark.field_report("D8b")
def test_a_validation_waits_for_its_pool_the_policy_and_the_gpu_operator(deploy: Deploy) -> None:
    deployment = deploy(program())
    jobs = deployment.all(JOB)
    assert jobs
    for job in jobs:
        waits = set(job.request["dependencies"])
        assert deployment.one(POOL).urn in waits
        assert deployment.one(POLICY).urn in waits
        assert deployment.one("kubernetes:nvidia.com/v1:ClusterPolicyPatch").urn in waits


def test_a_validation_does_not_wait_for_another_pool(deploy: Deploy) -> None:
    two = (("ndh100", "Standard_ND96isr_H100_v5"), ("hx", "Standard_HX176rs"))
    deployment = deploy(program(pools=two))
    pools = {agent_pool.inputs["agentPoolName"]: agent_pool.urn for agent_pool in deployment.all(POOL)}
    for job in deployment.all(JOB):
        mine, other = ("hx", "ndh100") if "rdma-hx" in job.request["parent"] else ("ndh100", "hx")
        assert pools[mine] in job.request["dependencies"]
        assert pools[other] not in job.request["dependencies"]


def test_pools_wait_for_one_another_where_the_stack_says_serial(deploy: Deploy) -> None:
    two = (("ndh100", "Standard_ND96isr_H100_v5"), ("hx", "Standard_HX176rs"))
    serial = {"kubernetesVersion": "1.35", "poolOperations": "serial"}
    first, second = deploy(program(pools=two, cluster=serial)).all(POOL)
    assert first.urn in second.request["dependencies"]


def test_sizes_that_must_not_have_the_feature_wait_for_its_absence(deploy: Deploy) -> None:
    deployment = deploy(program(pools=(("gb300", "Standard_ND128isr_GB300_v6"),)), feature_states=["NotRegistered"])
    assert deployment.all(FEATURE) == []
    assert deployment.one("aks-infiniband:index:FeatureAbsence")
