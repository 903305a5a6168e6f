"""The rights to read and evict pods; tests/unit/validation/cases/maintenance.yaml has the Events and evictions."""

from typing import Any

import pytest
from aks_infiniband.light_check.watch_documents import policies, rules, spared

from tests.some_pools import pool


@pytest.mark.parametrize(
    ("maintenance", "resources"),
    [
        ("keep", {"nodes"}),
        ("announce", {"nodes", "pods", "jobs", "replicasets", "events"}),
        ("drain", {"nodes", "pods", "jobs", "replicasets", "events", "pods/eviction"}),
    ],
)
def test_the_account_reads_and_evicts_pods_only_if_a_pool_says_so(maintenance: Any, resources: set[str]) -> None:
    given = rules([pool(admission="measured", maintenance=maintenance)], "ns")[None]
    assert {resource for rule in given for resource in rule["resources"]} == resources


def test_a_policy_keeps_the_account_from_pods_of_the_system() -> None:
    (rule,) = policies("ns")["-evictions"]["matchConstraints"]["resourceRules"]
    assert (rule["operations"], rule["resources"]) == (["CREATE"], ["pods/eviction"])
    assert {"kube-system", "gpu-operator", "network-operator", "ns"} <= set(spared("ns"))
