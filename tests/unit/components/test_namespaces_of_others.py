"""Namespaces of others: missing ones are reported before anything is made, or made if the stack enables that."""

from typing import Any

import pulumi
import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs
from aks_infiniband.stack import beforehand
from aks_infiniband_cli.preflight import checks

from declared.pulumi_mocks import Deploy
from tests.unit.components.others_cluster import OthersCluster, listed
from tests.unit.components.stack_files import existing, mistakes, pool

NAMESPACES = "/api/v1/namespaces"
NAMESPACE = "kubernetes:core/v1:Namespace"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"


@pytest.fixture(autouse=True)
def namespaces(others: OthersCluster) -> None:
    others.answers[NAMESPACES] = listed({"name": "default"}, {"name": "team-a"})


@pytest.mark.parametrize("preview", [True, False])
def test_those_that_are_missing_are_named_with_what_to_do_before_anything_is_made_in_the_cluster(
    deploy: Deploy, others: OthersCluster, preview: bool
) -> None:
    words = (
        r"(?s)does not have the namespace team-b, team-c, which"
        r".*kubectl create namespace team-b; kubectl create namespace team-c"
    )
    with pytest.raises(pulumi.RunError, match=words):
        deploy(others.program(namespaces=["team-a", "team-b", "team-c"]), preview=preview)


def test_where_all_are_there_or_a_preview_is_not_told_it_is_gone_on_with(deploy: Deploy, others: OthersCluster) -> None:
    for name in ("team-a", "team-b"):
        made = deploy(others.program(namespaces=[name]), preview=others.answers[NAMESPACES] == 403)
        assert name in {found.inputs["metadata"].get("namespace") for found in made.all(CONFIG_MAP)}
        assert name not in {found.inputs["metadata"]["name"] for found in made.all(NAMESPACE)}
        others.answers[NAMESPACES] = 403


def test_where_it_is_asked_for_they_are_made_before_their_config_maps_and_outlive_the_stack(
    deploy: Deploy, others: OthersCluster
) -> None:
    made = deploy(others.program(namespaces=["team-a", "team-b"], createNamespaces=True))
    kept = [found for found in made.all(NAMESPACE) if found.request.get("retainOnDelete")]
    assert sorted(found.inputs["metadata"]["name"] for found in kept) == ["team-a", "team-b"]
    theirs = [found for found in made.all(CONFIG_MAP) if found.inputs["metadata"].get("namespace") == "team-b"]
    assert theirs
    assert all("rdma-team-b-namespace" in found.dependencies for found in theirs)


def test_to_make_none_says_nothing() -> None:
    found = mistakes(existing(pool(nodeSelector={"pool": "a"}), workload={"createNamespaces": True}))
    assert "says nothing without namespaces" in found["workload.createNamespaces"]


def test_preflight_says_it_too(others: OthersCluster) -> None:
    def line(*namespaces: str) -> checks.Line:
        (look, _) = beforehand.looks(others.kubeconfig, others.stack(namespaces=namespaces))
        return checks.beforehand(look)

    failing = line("team-b")
    assert (failing.check, failing.state) == ("namespaces", "fail")
    assert failing.remedy is not None
    assert failing.remedy.startswith("kubectl create namespace team-b; or set")
    assert line("team-a").state == "pass"
    others.answers[NAMESPACES] = 403
    assert line("team-a").state == "not checked"


def test_pods_for_namespaces_at_restricted_come_with_node_preparation(deploy: Deploy, others: OthersCluster) -> None:
    def outputs(*, prepared: bool = False) -> Any:
        sections = {"networkOperator": {"valuesFile": None, "nodePreparation": prepared}}
        given = others.stack(sections, namespaces=["team-a"])
        return deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=given)).pod_templates["ndh100"]).result

    assert "restrictedPodTemplate" not in outputs()
    (main,) = outputs(prepared=True)["restrictedPodTemplate"]["spec"]["containers"]
    assert main["securityContext"]["runAsNonRoot"] is True
