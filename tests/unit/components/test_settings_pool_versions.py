"""A pool's own version of Kubernetes, which it has while an upgrade is under way."""

from typing import Any

import pytest
from aks_infiniband import load

from tests.unit.components.stack_files import changed, cluster, made, mistakes, pool

LTS = {"supportPlan": "AKSLongTermSupport"}


def version_of(stack: Any) -> str | None:
    """The first pool's, as the program has it."""
    return made(load(stack)).pools[0][1].kubernetes_version


def test_a_pool_that_is_behind_its_cluster_keeps_its_version() -> None:
    assert version_of(changed(cluster=cluster(kubernetesVersion="1.36", **LTS))) is None
    behind = changed(cluster=cluster(kubernetesVersion="1.36", **LTS), pools=[pool(kubernetesVersion="1.35.8")])
    assert version_of(behind) == "1.35.8"


@pytest.mark.parametrize(
    ("above", "own", "words"),
    [
        ("1.35", "1.36", "must be 1.35, that of cluster.kubernetesVersion, or older: AKS upgrades the control plane"),
        ("1.36.1", "1.36.2", "must be 1.36.1, that of cluster.kubernetesVersion, or older"),
        ("1.37", "1.33", "is 4 minor versions behind cluster.kubernetesVersion 1.37; AKS takes 3 at most"),
    ],
)
def test_a_pool_is_never_ahead_and_three_minor_versions_behind_at_most(above: str, own: str, words: str) -> None:
    found = mistakes(changed(cluster=cluster(kubernetesVersion=above, **LTS), pools=[pool(kubernetesVersion=own)]))
    assert words in found["pools[0].kubernetesVersion"]


@pytest.mark.parametrize("own", ["1.36", "1.36.3", "1.34"])
def test_a_pool_may_have_the_clusters_version_or_an_older_one(own: str) -> None:
    stack = changed(cluster=cluster(kubernetesVersion="1.36", **LTS), pools=[pool(kubernetesVersion=own)])
    assert version_of(stack) == own
