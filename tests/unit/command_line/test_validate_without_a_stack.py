"""`aks-infiniband validate` without a stack: the choices for a pool's measurement, the objects that are made, and their
removal.
"""

import copy
import json
import time
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband.operators.offered import Seen, privileged
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.pool_expectations import expected_of
from aks_infiniband.validation.validation_job import PoolAccess, validation_spec
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.unmanaged import holding, plan, rights
from aks_infiniband_cli.validate.unmanaged.documents import LABELS, Brought, is_of_a_run
from aks_infiniband_cli.validate.unmanaged.pools import Asked, Chosen, named, selected, unmanaged

from tests.unit.command_line.cases.ways import node, policy
from tests.unit.command_line.in_memory import ApiServer
from tests.unit.command_line.validations import POOL

SHARING = node(offers={"rdma/shared_ib": "63", "nvidia.com/gpu": "8"})
SHARED = {"rdmaSharedDevicePlugin": {"config": json.dumps({"configList": [{"resourceName": "shared_ib"}]})}}


def a_plan(*nodes: dict[str, Any], asked: Asked = Asked()) -> plan.Plan:  # noqa: B008 frozen
    chosen = Chosen(
        name="nd", selector={"team": "x"}, nodes=nodes or [SHARING, node("b", offers={"rdma/shared_ib": "63"})]
    )
    return plan.plan_of({"nd": unmanaged(chosen, Seen(policies=[policy(SHARED)]), asked, nvlink=False)}, asked)


def test_a_pool_is_measured_by_the_job_that_a_stack_would_make_of_it() -> None:
    made = a_plan()
    (found,), (deployed,) = made.pools.values(), made.validations.values()
    options = ValidationOptions(mode="warn")
    (key,) = [name for name in made.brought.contents("u")[1]["data"] if name.startswith("expectations-")]
    (topology,) = [name for name in made.brought.contents("u")[1]["data"] if name.startswith("topology-")]
    access = PoolAccess(namespace=made.brought.name, account="validation", topology=topology, common=[key])
    spec = validation_spec(
        POOL.changed(name="nd", node_count=2, node_selector={"team": "x"}, nic_driver="inbox"),
        options=options,
        waits=Waits(poll_seconds=2, stable_seconds=4, timeout_seconds=600),
        access=access,
        expected=expected_of(found.pool, options, node_preparation=False),
    )
    assert deployed.job["spec"] == spec
    assert deployed.expected["thresholds"] == expected_of(POOL, options, node_preparation=False)["thresholds"]
    assert not deployed.lasting


def test_all_that_a_run_brings_is_in_its_namespace_or_goes_with_it_and_names_the_run() -> None:
    brought = a_plan().brought
    contents = brought.contents("uid-1")
    assert [each["kind"] for each in contents] == ["ServiceAccount", "ConfigMap", "ClusterRole", "ClusterRoleBinding"]
    for each in (brought.namespace, brought.lease("now"), *contents):
        metadata = each["metadata"]
        assert metadata["annotations"] == {"aks-infiniband/run": brought.name}
        assert metadata["labels"]["app.kubernetes.io/managed-by"] == LABELS["app.kubernetes.io/managed-by"]
        owners = [owner["uid"] for owner in metadata.get("ownerReferences", ())]
        inside = brought.name in (metadata.get("namespace"), metadata["name"])
        assert inside or (owners == ["uid-1"] and metadata["name"].startswith(brought.name))
    assert brought.namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"
    assert a_plan().brought.name != brought.name
    assert Brought().contents("u") == []


def test_an_object_is_a_runs_only_if_its_own_name_proves_it() -> None:
    own = Brought().namespace
    assert is_of_a_run(own)
    for name, annotation in (("team", own["metadata"]["name"]), ("team", "team"), (own["metadata"]["name"], "team")):
        metadata = {**own["metadata"], "name": name, "annotations": {"aks-infiniband/run": annotation}}
        assert not is_of_a_run({"metadata": metadata})
    assert not is_of_a_run({"metadata": {**own["metadata"], "labels": {}}})


class Cluster(ApiServer):
    """An API server that grants every right except the one that it has denied."""

    denied, renews = "", False

    def __init__(self, **refuses: int) -> None:
        super().__init__({f"create {kind}": status for kind, status in refuses.items()})
        self.asked: list[str] = []

    def create(self, made: Any) -> Any:
        if type(made).__name__ != "SelfSubjectAccessReview":
            return super().create(made)
        about = made.to_dict()["spec"]["resourceAttributes"]
        inner = f"/{about['subresource']}" if about.get("subresource") else ""
        group = f".{about['group']}" if about.get("group") and not inner else ""
        self.asked.append(f"{about['verb']} {about['resource']}{inner}{group}")
        return SimpleNamespace(status=SimpleNamespace(allowed=self.asked[-1] != self.denied))

    def get(self, kind: Any, name: str, namespace: str = "", **more: Any) -> Any:
        if kind.__name__ == "Lease" and self.renews:
            self.objects["Lease", namespace, name]["spec"] = {"renewTime": str(time.monotonic())}
            return SimpleNamespace(to_dict=lambda: copy.deepcopy(self.objects["Lease", namespace, name]))
        return super().get(kind, name, namespace, **more)


def new_cluster(**refuses: int) -> Any:
    """The client of a cluster."""
    return Cluster(**refuses)


def test_what_a_run_brings_is_gone_after_a_success_a_failure_and_an_interruption() -> None:
    for raised in (None, CommandError("x"), KeyboardInterrupt()):
        cluster, run = new_cluster(), a_plan().brought
        with suppress(CommandError, KeyboardInterrupt), holding.brought(cluster, run, lambda _: None):
            assert {kind for kind, _, _ in cluster.objects} >= {"Namespace", "Lease", "ConfigMap", "ClusterRole"}
            if raised:
                raise raised
        assert cluster.objects == {}


def test_what_was_made_before_a_refusal_is_gone_and_what_was_there_stays() -> None:
    cluster, run = new_cluster(ClusterRole=409), a_plan().brought
    with pytest.raises(CommandError, match="could not be made"), holding.brought(cluster, run, print):
        pytest.fail("nothing is measured")
    assert cluster.objects == {}
    theirs = {"metadata": {"name": run.name, "labels": {}}}
    cluster.put("Namespace", theirs)
    with pytest.raises(CommandError, match="could not be made"), holding.brought(cluster, run, print):
        pytest.fail("nothing is measured")
    assert list(cluster.objects.values()) == [theirs]


def left_behind(*, pod_of: str | None = None) -> tuple[Any, str]:
    cluster, run = new_cluster(), Brought()
    cluster.put("Namespace", run.namespace)
    cluster.put("Lease", run.lease("2026-11-28T10:00:00.000000Z"))
    if pod_of:
        owners = [{"kind": pod_of, "name": "x", "uid": "x", "controller": True}]
        cluster.put("Pod", {"metadata": {"name": "p", "namespace": run.name, "ownerReferences": owners}})
    return cluster, run.name


def test_the_next_run_deletes_what_a_killed_one_left_and_nothing_that_it_cannot_prove(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slept = list[float]()
    cluster, name = left_behind(pod_of="Job")
    assert holding.clear_left(cluster, print, sleep=slept.append)
    assert (cluster.objects, slept) == ({}, [30])
    assert f"had left namespace {name}: deleting it" in capsys.readouterr().err

    cluster, name = left_behind()
    cluster.renews = True
    assert not holding.clear_left(cluster, print, sleep=slept.append)
    assert len(cluster.objects) == 2
    assert f"at work in namespace {name}" in capsys.readouterr().err

    cluster, name = left_behind(pod_of="ReplicaSet")
    holding.clear_left(cluster, print, sleep=slept.append)
    assert len(cluster.objects) == 3
    assert "pod p is not that run's: it stays" in capsys.readouterr().err

    cluster = new_cluster()
    forged = Brought().namespace
    forged["metadata"]["name"] = "production"
    cluster.put("Namespace", forged)
    assert not holding.clear_left(cluster, print, sleep=lambda _: pytest.fail("nothing to wait for"))
    assert list(cluster.objects) == [("Namespace", "", "production")]


def test_every_right_is_asked_for_beforehand_and_a_missing_one_is_named() -> None:
    needed = rights.needed(a_plan().brought, cordon=True)
    cluster = new_cluster()
    rights.require(cluster, needed)
    group = "rbac.authorization.k8s.io"
    assert {"create namespaces", f"create clusterroles.{group}", "create jobs.batch", "patch nodes"} <= {*cluster.asked}
    assert "get pods/log" in {f"{one.verb} {one.resource}" for one in rights.needed(Brought())}
    assert "patch nodes" not in {f"{one.verb} {one.resource}" for one in rights.needed(a_plan().brought)}
    for denied in cluster.asked:
        refusing = new_cluster()
        refusing.denied = denied
        with pytest.raises(CommandError, match=f"nothing was made .*{denied}"):
            rights.require(refusing, needed)
        assert refusing.objects == {}


def test_a_pool_is_known_by_akss_label_or_by_any_that_is_named() -> None:
    nodes = [node("a"), node("b"), {"metadata": {"name": "c", "labels": {"agentpool": "old"}}}]
    chosen = named(nodes, "nd")
    assert chosen is not None
    assert [each["metadata"]["name"] for each in chosen.nodes] == ["a", "b"]
    assert named(nodes, "old") is not None
    assert named(nodes, "none") is None
    assert selected(nodes, {"team": "x"}).name == "nd"
    with pytest.raises(CommandError, match=r"labels team=y; nodes with InfiniBand are: pool nd: 2 of Standard_ND96isr"):
        selected(nodes, {"team": "y"})


def test_a_person_decides_for_privileged_pods_if_nothing_hands_out_the_hcas() -> None:
    chosen = Chosen(name="nd", selector={"team": "x"}, nodes=[node()])
    assert unmanaged(chosen, Seen(), Asked(mode="driver-only"), nvlink=False).way == privileged([node()], Seen())
