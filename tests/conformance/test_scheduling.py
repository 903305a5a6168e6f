"""The objects for schedulers fit the real definitions of Kueue and Volcano."""

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.workload.scheduling import (
    GROUPS,
    KINDS,
    MOST_LEVELS,
    MOST_OF_A_FLAVOR,
    Scheduler,
    flavor_spec,
    hyper_node_spec,
    topology_spec,
)

from tests.conformance.facts import assert_accepted, definitions
from tests.some_pools import pool

RACKS = "Standard_ND128isr_GB300_v6"
"""Machines whose NVLink domain is a separate level."""
MOST = [f"example.com/level-{number}" for number in range(MOST_LEVELS)]


def test_a_pool_is_told_in_words_that_the_real_definitions_accept() -> None:
    for size in SIZES:
        given = pool(size, taints=tuple(f"a{number}=b:NoSchedule" for number in range(MOST_OF_A_FLAVOR)))
        assert_accepted("Topology", topology_spec(given, MOST))
        assert_accepted("ResourceFlavor", flavor_spec(given, MOST))
        assert_accepted("HyperNode", hyper_node_spec(given))


def test_one_level_or_one_taint_more_is_refused() -> None:
    given = pool(taints=tuple(f"a{number}=b:NoSchedule" for number in range(MOST_OF_A_FLAVOR + 1)))
    with pytest.raises(AssertionError, match="too long"):
        assert_accepted("Topology", topology_spec(pool(RACKS), [*MOST, "example.com/one-more"]))
    with pytest.raises(AssertionError, match="too long"):
        assert_accepted("ResourceFlavor", flavor_spec(given))
    labels = {f"a{number}": "b" for number in range(MOST_OF_A_FLAVOR + 1)}
    with pytest.raises(AssertionError, match="too many properties"):
        assert_accepted("ResourceFlavor", flavor_spec(pool(node_selector=labels)))


@pytest.mark.parametrize("scheduler", GROUPS)
def test_the_kinds_are_served_cluster_wide_in_the_version_that_is_sent(scheduler: Scheduler) -> None:
    group, version = GROUPS[scheduler].split("/")
    for kind, plural in KINDS[scheduler].items():
        found = definitions()[f"{plural}.{group}"]
        assert (found["names"]["kind"], found["scope"]) == (kind, "Cluster")
        assert found["versions"][version]["served"]
