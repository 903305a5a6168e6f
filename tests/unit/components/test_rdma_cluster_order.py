"""The composition: which resource waits for which, and which do not wait."""

from typing import Any

import pytest

from declared.pulumi_mocks import Deploy
from tests.unit.components.rdma_programs import CLUSTER, DAEMON_SET, FEATURE, JOB, POLICY, POOL, RELEASE, program


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
    (told,) = [kept for kept in deployment.all("pulumi:index:Stash") if kept.name.endswith("provider-registration")]
    assert feature in told.request["dependencies"]
    assert told.urn in deployment.one(POOL).request["dependencies"]


def test_the_namespace_of_workloads_is_guarded_before_it_is_privileged(deploy: Deploy) -> None:
    """So if the guard fails, or `up` is interrupted, no privileged namespace is without a guard."""
    deployment = deploy(program())
    guard = [made.urn for made in deployment.registrations if "ValidatingAdmissionPolicy" in made.type]
    assert len(guard) == 2
    spaces = {made.inputs["metadata"]["name"]: made for made in deployment.all("kubernetes:core/v1:Namespace")}
    workloads = spaces["aks-infiniband"]
    assert workloads.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert set(guard) <= set(workloads.request["dependencies"])
    assert not set(guard) & set(spaces["aks-infiniband-system"].request.get("dependencies", [])), "nobody waits for it"


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


def test_the_feature_is_asked_for_without_waiting_for_the_cluster_or_anything_else(deploy: Deploy) -> None:
    """The registration may take longer than the cluster. The SDK registers the two in any order."""
    assert deploy(program()).one(FEATURE).dependencies == set()


def test_images_are_pulled_while_drivers_are_installed_and_nothing_waits_for_it(deploy: Deploy) -> None:
    deployment = deploy(program())
    pull = deployment.one(DAEMON_SET)
    assert not {deployment.one(kind).urn for kind in (POOL, POLICY)} & set(pull.request["dependencies"])
    assert not any(pull.urn in other.request.get("dependencies", ()) for other in deployment.registrations)
    assert pull.inputs["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"
    pod = deployment.one(JOB).inputs["spec"]["template"]["spec"]
    assert images(pull.inputs) == [container["image"] for container in (*pod["initContainers"], *pod["containers"])]


def test_images_are_pulled_after_a_preparation_of_the_nodes_which_restarts_containerd(deploy: Deploy) -> None:
    deployment = deploy(program(networkOperator={"nodePreparation": True}))
    prepares, pull = sorted(deployment.all(DAEMON_SET), key=lambda made: "image-pull" in made.name)
    assert prepares.urn in pull.request["dependencies"]


@pytest.mark.parametrize("memlock", [True, False])
def test_the_gpu_operator_waits_for_a_preparation_of_the_nodes_only_if_it_restarts_their_kubelets(
    deploy: Deploy, memlock: bool
) -> None:
    deployment = deploy(program(networkOperator={"driver": "inbox", "nodePreparation": memlock}))
    [prepares] = [made for made in deployment.all(DAEMON_SET) if "image-pull" not in made.name]
    [release] = [release for release in deployment.all(RELEASE) if release.name == "rdma-gpu-operator"]
    assert (prepares.urn in release.request["dependencies"]) == memlock
    assert prepares.urn in deployment.one(POLICY).request["dependencies"], "its device plugin needs the modules"


def test_pools_that_want_the_same_images_share_what_pulls_them_and_a_small_image_is_not_worth_it(
    deploy: Deploy,
) -> None:
    gpus, train = "Standard_ND96isr_H100_v5", ["docker.io/me/train:1"]
    pools = [
        *({"name": name, "vmSize": gpus, "count": 2} for name in ("a", "b")),
        {"name": "c", "vmSize": gpus, "count": 2, "images": train},
        {"name": "d", "vmSize": "Standard_HB120rs_v3", "count": 2},
    ]
    pulls = [pull.inputs for pull in deploy(program(pools=pools)).all(DAEMON_SET)]
    pulled = {tuple(pools_of(pull)): images(pull) for pull in pulls}
    assert len(pulls) == 2
    assert pulled == {("a", "b"): pulled["a", "b"], ("c",): [*pulled["a", "b"], *train]}


def test_workloads_images_are_pulled_where_nothing_is_validated_too(deploy: Deploy) -> None:
    pool = {"name": "nd", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "images": ["docker.io/me/train:1"]}
    pull = deploy(program(pools=[pool], validation={"mode": "off"})).one(DAEMON_SET)
    assert images(pull.inputs) == ["docker.io/me/train:1"]


def images(daemon_set: Any) -> list[str]:
    return [container["image"] for container in daemon_set["spec"]["template"]["spec"]["initContainers"]]


def pools_of(daemon_set: Any) -> list[str]:
    affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [expression["values"][0] for term in terms for expression in term["matchExpressions"]]
