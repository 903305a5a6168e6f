"""The checks of the conformance tests find each kind of mistake in each kind of document."""

from collections.abc import Iterator
from copy import deepcopy
from ipaddress import IPv4Network
from typing import Any

import pytest
from aks_infiniband.operators.ipoib import ip_pool_spec, ipoib_network_spec, ipoib_networks
from aks_infiniband.operators.network_operator import node_feature_rule_spec
from aks_infiniband.operators.nic_policy import nic_policy_specs
from aks_infiniband.operators.release import DriverUpgrade, OperatorOptions
from aks_infiniband.resources.registry import Registry

from tests.conformance.facts import assert_accepted, fields_of
from tests.conformance.notation import Fields, below, required, said
from tests.some_pools import HBV4, pool

IPOIB = pool(HBV4, "hb", mode="ipoib", taints=("a=b:NoSchedule",))
(NETWORK_OF_POOL,) = ipoib_networks([IPOIB], IPv4Network("192.168.0.0/16"))
OPTIONS = OperatorOptions(
    upgrade=DriverUpgrade(automatic=True, drain_timeout_seconds=60), registry=Registry(pull_secret="creds")
)
MIXED = nic_policy_specs([IPOIB, pool(mode="sriov", nic_driver="inbox")], OPTIONS)
SPECS = {
    "NicClusterPolicy": nic_policy_specs([IPOIB], OPTIONS).cluster,
    "NicNodePolicy": MIXED.nodes["hb"],
    "NodeFeatureRule": node_feature_rule_spec([IPOIB]),
    "IPPool": ip_pool_spec(NETWORK_OF_POOL),
    "IPoIBNetwork": ipoib_network_spec(NETWORK_OF_POOL, namespace="aks-infiniband"),
}
KINDS = pytest.mark.parametrize("kind", SPECS)
Place = tuple[str | int, ...]


def places(value: Any, fields: Fields, place: Place = ()) -> Iterator[tuple[Place, Fields]]:
    """Every value of a spec by its place, with what the facts say of it."""
    yield place, fields
    parts = below(fields)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, parts["[]"], (*place, number))
    if isinstance(value, dict):
        for name, item in value.items():
            yield from places(item, parts.get(name) or parts["*"], (*place, name))


def with_change(kind: str, place: Place, change: dict[str, Any] | None = None, without: str | None = None) -> Any:
    """A kind's spec with fields set, or one taken away, in the object at a place."""
    here: Any = deepcopy(SPECS[kind])
    spec = here
    for step in place:
        here = here[step]
    here.update(change or {})
    if without:
        del here[without]
    return spec


def objects(kind: str) -> list[tuple[Place, Fields]]:
    """The objects of a kind's spec whose fields have names of the definition's choosing."""
    found = places(SPECS[kind], below(fields_of(kind))["spec"])
    return [(place, fields) for place, fields in found if said(fields)["type"] == "object" and "*" not in below(fields)]


@KINDS
def test_the_spec_as_it_is_is_accepted(kind: str) -> None:
    assert_accepted(kind, SPECS[kind])
    assert objects(kind)


@KINDS
def test_a_misspelt_field_is_found_in_every_object(kind: str) -> None:
    for place, _ in objects(kind):
        with pytest.raises(AssertionError, match="'mispelt' was unexpected"):
            assert_accepted(kind, with_change(kind, place, {"mispelt": "x"}))


@KINDS
def test_a_value_of_another_type_is_found_in_every_field(kind: str) -> None:
    for place, _ in places(SPECS[kind], below(fields_of(kind))["spec"]):
        if place and isinstance(place[-1], str):
            with pytest.raises(AssertionError, match="is not of type"):
                assert_accepted(kind, with_change(kind, place[:-1], {place[-1]: 1.5}))


@KINDS
def test_a_required_field_that_is_missing_is_found_in_every_object(kind: str) -> None:
    for place, fields in objects(kind):
        for name in required(fields):
            with pytest.raises(AssertionError, match=f"'{name}' is a required property"):
                assert_accepted(kind, with_change(kind, place, without=name))


def test_some_fields_are_required_of_every_kind_that_requires_any() -> None:
    counts = {kind: sum(len(required(fields)) for _, fields in objects(kind)) for kind in SPECS}
    assert [kind for kind, count in counts.items() if not count] == ["IPoIBNetwork"]


def test_a_word_that_is_none_of_those_listed_is_found() -> None:
    match = next(place for place, fields in objects("NodeFeatureRule") if "op" in required(fields))
    with pytest.raises(AssertionError, match="'Perhaps' is not one of"):
        assert_accepted("NodeFeatureRule", with_change("NodeFeatureRule", match, {"op": "Perhaps"}))


def test_a_number_out_of_bounds_and_an_empty_name_are_found() -> None:
    upgrade: Place = ("ofedDriver", "upgradePolicy")
    with pytest.raises(AssertionError, match="-1 is less than the minimum"):
        assert_accepted("NicNodePolicy", with_change("NicNodePolicy", upgrade, {"maxParallelUpgrades": -1}))
    with pytest.raises(AssertionError, match="'' does not match"):
        assert_accepted("NicNodePolicy", with_change("NicNodePolicy", ("ofedDriver",), {"image": ""}))
