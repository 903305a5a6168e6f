"""The stack `gb300`: machines of one rack reach each other's GPUs by NVLink, and those of others by InfiniBand.

The tests follow one another.
"""

from typing import Any

import pytest
from lightkube.generic_resource import create_global_resource, create_namespaced_resource

from rehearsal.outcome.reports import left_in
from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack

pytestmark = pytest.mark.long
STACK = "gb300"
POOL = "gb300"
ResourceSlice = create_global_resource("resource.k8s.io", "v1", "ResourceSlice", "resourceslices")
ComputeDomain = create_namespaced_resource("resource.nvidia.com", "v1beta1", "ComputeDomain", "computedomains")


def checks(stack: Stack, name: str) -> list[dict[str, Any]]:
    """Checks of the last validation, whether it has passed or not."""
    report = left_in(stack.kubeconfig())[POOL]
    return [check for check in report["checks"] if check["check"] == name]


def said(outcome: Outcome) -> str:
    return " ".join(outcome.said.split())


def validated_again(stack: Stack, seconds: int) -> Outcome:
    """Another limit lets the validation run again; a rehearsal has 240 s at most."""
    stack.settings(validation={"timeoutSeconds": seconds})
    return stack.up()


def test_nvlink_and_infiniband_are_measured_each_by_itself_and_both_pass(stack: Stack, brought_up: Outcome) -> None:
    assert stack.verdicts() == {POOL: "pass"}
    (by_infiniband,), (by_nvlink,) = checks(stack, "all-reduce"), checks(stack, "all-reduce-nvlink")
    assert by_infiniband["verdict"] == by_nvlink["verdict"] == "pass"
    assert 79 < by_infiniband["measured"] < 400, "four HCAs carry no more"
    assert by_nvlink["measured"] > 534
    assert [check["measured"] for check in checks(stack, "nvlink-transport")] == ["NVLink between machines (MNNVL)"]
    assert {check["verdict"] for check in checks(stack, "nvlink-fabric")} == {"pass"}


def test_the_rack_is_a_label_and_every_namespace_of_workloads_has_a_compute_domain(
    stack: Stack, brought_up: Outcome
) -> None:
    cliques = {node["metadata"]["labels"].get("nvidia.com/gpu.clique") for node in stack.nodes(agentpool=POOL)}
    assert len(cliques) == 1
    assert None not in cliques
    slices = [dict(found)["spec"] for found in stack.cluster().list(ResourceSlice)]
    shown = {
        device["name"]
        for found in slices
        if found["driver"] == "compute-domain.nvidia.com"
        for device in found["devices"]
    }
    assert shown == {"channel-0", "daemon-0"}
    domains = [dict(found)["metadata"] for found in stack.cluster().list(ComputeDomain, namespace="*")]
    assert {(found["namespace"], found["name"]) for found in domains} == {
        ("aks-infiniband", f"nvlink-{POOL}"),
        ("aks-infiniband-system", f"nvlink-{POOL}"),
    }
    template = stack.workload(POOL)["podTemplate"]["spec"]
    assert template["resourceClaims"] == [{"name": "nvlink", "resourceClaimTemplateName": f"nvlink-{POOL}"}]


def test_half_the_rate_of_an_hca_shows_by_infiniband_and_not_by_nvlink(stack: Stack, brought_up: Outcome) -> None:
    with stack.broken("half-rate", node="*000001", device="mlx5_2"):
        outcome = validated_again(stack, 230)
    assert not outcome.succeeded
    assert "mlx5_2" in said(outcome)
    (by_nvlink,) = checks(stack, "all-reduce-nvlink")
    assert by_nvlink["verdict"] == "pass"


def test_an_imex_daemon_that_is_not_ready_is_named(stack: Stack, brought_up: Outcome) -> None:
    stack.settings(readiness={"timeoutSeconds": 40})  # the Job has both limits together
    with stack.broken("no-imex", node="*000001"):
        outcome = validated_again(stack, 60)
    stack.settings(readiness={"timeoutSeconds": 2700})
    assert not outcome.succeeded
    assert "current node not ready in ComputeDomain" in said(outcome)
    assert "the IMEX daemon of the ComputeDomain is not ready on this node" in said(outcome)


def test_a_node_of_another_rack_is_named(stack: Stack, brought_up: Outcome) -> None:
    three = {"name": POOL, "vmSize": "Standard_ND128isr_GB300_v6", "count": 3}
    stack.settings(pools=[three], validation={"timeoutSeconds": 231})
    with stack.broken("other-clique", node="*000002"):
        outcome = stack.up()
    assert not outcome.succeeded
    assert "its GPUs are in a separate NVLink domain, another rack" in said(outcome)
    alone = [check["node"] for check in checks(stack, "nvlink-domain") if check["verdict"] == "fail"]
    assert [node[-6:] for node in alone] == ["000002"]


def test_a_node_that_its_rack_has_let_go_is_named(stack: Stack, brought_up: Outcome) -> None:
    with stack.broken("no-nvlink", node="*000001"):
        outcome = validated_again(stack, 232)
    assert not outcome.succeeded
    assert "nvlink-fabric" in said(outcome)
    assert "the NVLink fabric of the rack has not taken the node's GPUs in" in said(outcome)
