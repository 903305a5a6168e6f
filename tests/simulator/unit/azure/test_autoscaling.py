"""Autoscaled pools: their count is the autoscaler's, and a program that says another one is refused."""

from typing import Any, Final

import pytest
from pulumi.runtime.proto import provider_pb2

from rehearsal.azure.resources.autoscaling import AUTOSCALE
from rehearsal.azure.wire import Properties, from_struct, to_struct
from tests.simulator.unit.azure.asking import Azure, RefusedError, pool_inputs

POOL: Final = "containerservice:AgentPool"
BOUNDS: Final[dict[str, Any]] = {"enableAutoScaling": True, "minCount": 1, "maxCount": 3}


def autoscale(azure: Azure, pool: str, count: int) -> Properties:
    request = provider_pb2.InvokeRequest(tok=AUTOSCALE, args=to_struct({"pool": pool, "count": count}))
    return from_struct(getattr(azure.provider.Invoke(request, azure.call()), "return"))


def nodes(azure: Azure) -> int:
    return sum("-ndh100-" in name for name in azure.machines.nodes)


@pytest.fixture
def pool(azure: Azure, cluster: Properties) -> Properties:
    return azure.create(POOL, "ndh100", **pool_inputs(cluster, **BOUNDS))


def test_the_autoscaler_changes_the_count_and_not_what_the_program_said(azure: Azure, pool: Properties) -> None:
    assert autoscale(azure, "ndh100", 3) == {"count": 3}
    assert nodes(azure) == 3
    assert azure.read(POOL, "ndh100", pool["id"])["count"] == 3
    assert azure.diff(POOL, "ndh100", pool).diffs == []
    autoscale(azure, "ndh100", 1)
    assert [name[-6:] for name in azure.machines.drained] == ["000001", "000002"]


def test_a_refresh_shows_the_autoscalers_count_as_the_programs(azure: Azure, pool: Properties) -> None:
    autoscale(azure, "ndh100", 3)
    state = {key: value for key, value in pool.items() if key != "__inputs"}
    request = provider_pb2.ReadRequest(
        id=pool["id"],
        urn=azure.urn(POOL, "ndh100"),
        inputs=to_struct(pool["__inputs"]),
        properties=to_struct(state),
    )
    inputs = from_struct(azure.provider.Read(request, azure.call()).inputs)
    assert inputs == {**pool["__inputs"], "count": 3}


def test_a_program_that_sends_its_old_count_with_another_change_is_refused(azure: Azure, pool: Properties) -> None:
    autoscale(azure, "ndh100", 3)
    with pytest.raises(RefusedError, match=r"InvalidParameter.*Cannot manually scale AgentPool 'ndh100'"):
        azure.update(POOL, "ndh100", pool, nodeLabels={"a": "b"})


def test_a_program_that_says_nothing_of_the_count_leaves_it_alone(azure: Azure, pool: Properties) -> None:
    autoscale(azure, "ndh100", 3)
    updated = azure.update(POOL, "ndh100", pool, count=None, nodeLabels={"a": "b"})
    assert (updated["count"], nodes(azure)) == (3, 3)


def test_a_pool_without_a_count_begins_at_its_least(azure: Azure, cluster: Properties) -> None:
    wanted = {key: value for key, value in pool_inputs(cluster, **BOUNDS).items() if key != "count"}
    assert azure.create(POOL, "ndh100", **wanted)["count"] == 1


def test_the_autoscaler_keeps_to_the_bounds_and_to_pools_that_have_them(
    azure: Azure, cluster: Properties, pool: Properties
) -> None:
    with pytest.raises(RefusedError, match="bounds of agent pool ndh100 are 1 to 3: 4"):
        autoscale(azure, "ndh100", 4)
    azure.create(POOL, "hb", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3", count=1))
    with pytest.raises(RefusedError, match="bounds of agent pool hb are none"):
        autoscale(azure, "hb", 1)
    with pytest.raises(RefusedError, match="the agent pool none does not exist"):
        autoscale(azure, "none", 1)
