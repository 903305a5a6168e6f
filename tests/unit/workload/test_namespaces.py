"""No workload's settings, Secret or guard gets into a namespace of the system, of an operator, or of the program."""

from typing import Any

import pytest
from aks_infiniband import WorkloadGuardArgs, WorkloadSettingsArgs
from aks_infiniband.resources.namespaces import why_not_for_workloads

from tests.some_pools import pool

SYSTEMS = [
    *("kube-system", "kube-public", "kube-node-lease", "aks-command", "aks-istio-system", "app-routing-system"),
    *("azure-arc", "calico-system", "gatekeeper-system", "tigera-operator", "tigera-system"),
    *("network-operator", "nvidia-network-operator", "gpu-operator", "nvidia-gpu-operator", "node-feature-discovery"),
    "dra-driver-nvidia-gpu",
    "aks-infiniband-system",
]


@pytest.mark.parametrize("namespace", SYSTEMS)
@pytest.mark.parametrize(
    "arguments",
    [lambda given: WorkloadSettingsArgs(pools=[pool()], namespaces=given), lambda g: WorkloadGuardArgs(namespaces=g)],
    ids=["settings", "guard"],
)
def test_the_library_refuses_a_namespace_of_the_system(arguments: Any, namespace: str) -> None:
    with pytest.raises(ValueError, match=f"^namespaces: {namespace} .*; name one of workloads$"):
        arguments(["team-a", namespace])


@pytest.mark.parametrize("namespace", ["aks-infiniband", "default", "team-a", "aks-team", "kubeflow", "gpu-operators"])
def test_a_namespace_of_people_is_taken(namespace: str) -> None:
    assert why_not_for_workloads(namespace) is None


def test_a_guard_without_a_namespace_is_refused_for_it_would_hold_in_every_one() -> None:
    with pytest.raises(ValueError, match="namespaces is empty: a policy would hold in every namespace"):
        WorkloadGuardArgs(namespaces=[])
