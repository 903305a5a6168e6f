"""The composition: which resource waits for which, and which do not wait."""

from typing import Any

import pytest

from declared.pulumi_mocks import Deploy
from tests.unit.components.rdma_programs import DAEMON_SET, JOB, POLICY, POOL, RELEASE, program


def test_images_are_pulled_while_drivers_are_installed_and_nothing_waits_for_it(deploy: Deploy) -> None:
    deployment = deploy(program())
    pull = deployment.one(DAEMON_SET)
    assert not {deployment.one(kind).urn for kind in (POOL, POLICY)} & set(pull.request["dependencies"])
    assert not any(pull.urn in other.request.get("dependencies", ()) for other in deployment.registrations)
    assert pull.inputs["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"
    pod = deployment.one(JOB).inputs["spec"]["template"]["spec"]
    assert images(pull.inputs) == [container["image"] for container in (*pod["initContainers"], *pod["containers"])]


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


def images(daemon_set: Any) -> list[str]:
    return [container["image"] for container in daemon_set["spec"]["template"]["spec"]["initContainers"]]


def pools_of(daemon_set: Any) -> list[str]:
    affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    return [expression["values"][0] for term in terms for expression in term["matchExpressions"]]
