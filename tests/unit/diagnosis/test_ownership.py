"""The owner of an object: the words of its namespace and its controller, and nothing that a tenant can write."""

from typing import Any

from aks_infiniband.diagnosis.ownership import operators_pods, trusted_namespaces
from aks_infiniband.diagnosis.view import View


def made_in(namespace: str, kind: str = "NicClusterPolicy") -> Any:
    owner = {"kind": kind, "name": "x", "uid": "1", "controller": True}
    metadata = {"name": "mofed", "namespace": namespace, "ownerReferences": [owner]}
    return {"metadata": metadata, "spec": {"template": {"spec": {"containers": []}}}}


def test_a_pod_is_an_operators_if_a_daemon_set_has_made_it_there_and_it_has_not_ended() -> None:
    def pod(namespace: str, kind: str, phase: str) -> Any:
        owners = [{"kind": kind, "controller": True}]
        return {"metadata": {"namespace": namespace, "ownerReferences": owners}, "status": {"phase": phase}}

    own = pod("gpu-operator", "DaemonSet", "Pending")
    others = [
        *(pod("gpu-operator", "DaemonSet", phase) for phase in ("Failed", "Succeeded")),
        pod("gpu-operator", "Job", "Running"),
        pod("team", "DaemonSet", "Running"),
    ]
    assert operators_pods([own, *others]) == [own]


def test_an_operator_under_another_namespace_is_known_by_what_its_policy_has_made() -> None:
    assert "nvidia" in trusted_namespaces(View(daemon_sets=[made_in("nvidia", "ClusterPolicy")]))


def test_an_owner_reference_that_a_tenant_has_written_counts_for_nothing_beside_the_operators_own() -> None:
    view = View(daemon_sets=[made_in("network-operator"), made_in("team"), made_in("nvidia", "ClusterPolicy")])
    found = trusted_namespaces(view)
    assert {"network-operator", "nvidia"} <= found
    assert "team" not in found
    strange = View(daemon_sets=[made_in("team")], policies=[{"kind": "NicClusterPolicy", "metadata": {"uid": "2"}}])
    assert "team" not in trusted_namespaces(strange)
