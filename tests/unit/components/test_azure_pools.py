"""Node pools: every key of a pool, what replaces one, and in which order they are made."""

from functools import partial
from typing import Any

import pulumi
import pytest
from aks_infiniband import Autoscale
from aks_infiniband.azure.agent_pool import NodePoolError, new_system_hook
from aks_infiniband.azure.node_pool import make_pools

from declared.pulumi_mocks import Deploy, Deployment, Refusal
from tests.unit.components.azure_programs import POOL, node_pool, ordinary_pool


@pytest.mark.field_report("A4b", "A3c")
@pytest.mark.parametrize(
    ("there", "words"),
    [
        ({"gpuProfile": {"driver": "Install"}}, r"gpuProfile\.driver Install in Azure; it must be None"),
        ({"provisioningState": "Failed"}, "pool ndh100 is Failed in Azure; it must be Succeeded"),
    ],
)
def test_a_pool_that_azure_left_failed_or_gave_another_gpu_driver_stops_the_deployment(
    deploy: Deploy, there: Any, words: str
) -> None:
    with pytest.raises(NodePoolError, match=words):
        deploy(lambda: node_pool().ready, outputs={POOL: there})


@pytest.mark.field_report("D2b", "A7")
def test_an_autoscaled_pool_begins_with_its_count_and_follows_the_autoscaler_from_then_on(deploy: Deploy) -> None:
    def made(answer: Any) -> Any:
        bounds = Autoscale(min_count=1, max_count=8)
        deployment = deploy(lambda: node_pool(autoscale=bounds, begin=2).ready, answers={"getAgentPool": answer})
        assert deployment.calls == ["azure-native:containerservice:getAgentPool"]
        return deployment.one(POOL).inputs

    new = made(Refusal('Status=404 Code="NotFound" Message="Could not find the agent pool"'))
    assert new["enableAutoScaling"] is True
    assert (new["count"], new["minCount"], new["maxCount"]) == (2, 1, 8)
    assert made({"name": "ndh100", "count": 5})["count"] == 5


def test_a_pool_of_fixed_size_is_not_looked_up_and_as_large_as_the_granted_placement_group(deploy: Deploy) -> None:
    deployment = deploy(lambda: node_pool(node_count=140, placement_group_limit=300).ready)
    assert deployment.calls == []
    inputs = deployment.one(POOL).inputs
    assert (inputs["enableAutoScaling"], inputs["count"]) == (False, 140)


def test_an_autoscaled_pool_that_cannot_be_looked_up_stops_the_deployment(deploy: Deploy) -> None:
    bounds = Autoscale(min_count=1, max_count=8)
    refused = {"getAgentPool": Refusal("Status=403 AuthorizationFailed")}
    with pytest.raises(Exception, match="AuthorizationFailed"):
        deploy(lambda: node_pool(autoscale=bounds).ready, answers=refused)


@pytest.mark.field_report("R12")
@pytest.mark.parametrize(
    ("before", "after", "sku", "warns"),
    [
        ("1.34", "1.35.8", "Ubuntu", True),
        ("1.34.9", "1.35", "Ubuntu2204", False),
        ("1.35", "1.36", "Ubuntu", False),
        (None, "1.35", "Ubuntu", False),
    ],
)
def test_another_kubernetes_is_warned_of_where_ubuntu_becomes_another_system(
    deploy: Deploy, warnings: list[str], before: str | None, after: str, sku: str, warns: bool
) -> None:
    old, new = ({"orchestratorVersion": version, "osSKU": sku} for version in (before, after))

    def program() -> pulumi.Output[Any]:
        hook = new_system_hook("hook")
        args = pulumi.ResourceHookArgs(urn="urn", id="id", name="rdma-nd", type=POOL, old_inputs=old, new_inputs=new)
        return pulumi.Output.from_input(hook(args))

    deploy(program)
    assert [text.partition(":")[0] for text in warnings] == ["rdma-nd"] * warns


def pools_made(deploy: Deploy, operations: Any) -> Deployment:
    def program() -> Any:
        gate = ordinary_pool("gate").ready
        makers = {name: partial(_make, name) for name in ("one", "two", "three")}
        made = make_pools(makers, operations=operations, opts=pulumi.ResourceOptions(depends_on=[gate]))
        return pulumi.Output.all(*(pool.ready for pool in made.values()))

    return deploy(program)


def _make(name: str, opts: pulumi.ResourceOptions) -> Any:
    return node_pool(name, opts=opts)


def waits(deployment: Deployment) -> dict[str, set[str]]:
    return {resource.name: resource.dependencies for resource in deployment.all(POOL)}


def test_pools_are_made_side_by_side_by_default(deploy: Deploy) -> None:
    assert waits(pools_made(deploy, "parallel")) == {"gate": set(), "one": {"gate"}, "two": {"gate"}, "three": {"gate"}}


@pytest.mark.field_report("D3")
def test_pools_are_made_one_at_a_time_by_setting(deploy: Deploy) -> None:
    assert waits(pools_made(deploy, "serial")) == {
        "gate": set(),
        "one": {"gate"},
        "two": {"gate", "one"},
        "three": {"gate", "two"},
    }
