"""`aks-infiniband validate` without a stack: the choices for a pool's measurement, the objects that are made, and their
removal.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.operators.offered import (
    Seen,
    decided,
    found_pool,
    held,
    privileged,
    taints_of,
    ways,
)
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.pool_expectations import expected_of
from aks_infiniband.validation.validation_job import PoolAccess, validation_spec
from aks_infiniband.workload.claims import claim_template_spec
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.main import main
from aks_infiniband_cli.validate import validating
from aks_infiniband_cli.validate.unmanaged import holding, plan, rights
from aks_infiniband_cli.validate.unmanaged.documents import LABELS, LEASE, Brought, is_of_a_run
from aks_infiniband_cli.validate.unmanaged.pools import Asked, Chosen, named, selected, unmanaged
from lightkube import ApiError

from tests.unit.command_line.cases.ways import node, policy
from tests.unit.command_line.validations import POOL, kubeconfig_in, validation

H100 = SIZES["Standard_ND96isr_H100_v5"]
SHARING = node(offers={"rdma/shared_ib": "63", "nvidia.com/gpu": "8"})
SHARED = {"rdmaSharedDevicePlugin": {"config": json.dumps({"configList": [{"resourceName": "shared_ib"}]})}}


def test_hcas_of_akss_managed_dranet_are_claimed_by_the_clusters_class_and_no_other_interface_is() -> None:
    one = node(**{"kubernetes.azure.com/network-dra": "rdma"})
    slices = [{"spec": {"driver": "dra.net", "nodeName": "a"}}]
    way = decided(ways([one], H100, Seen(slices=slices, device_classes=["z.example", "dranet.net"])))
    assert "AKS's managed DRANET (dra.net) publishes HCAs, and claims of DeviceClass dranet.net get them" in str(way)
    pool = found_pool("nd", [one], way, selector={}, nvlink=False)
    (request,) = claim_template_spec(pool)["spec"]["devices"]["requests"]
    assert request["exactly"]["deviceClassName"] == "dranet.net"
    (selector,) = request["exactly"]["selectors"]
    assert '.rdma && !("ifName"' in selector["cel"]["expression"]


SKU = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}
LEAVES = {"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}
ILL = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}


def test_the_taints_of_people_are_tolerated_and_those_that_keep_a_node_free_are_not() -> None:
    nodes = [node(taints=[SKU]), node("b", taints=[SKU, LEAVES]), node("c", taints=[ILL])]
    assert taints_of(nodes) == ("sku=gpu:NoSchedule",)
    assert [held(each)[:23] for each in nodes] == ["", "the cluster autoscaler ", "Kubernetes keeps work o"]


def test_pods_ask_by_the_name_that_the_cluster_has_and_claim_nvlink_only_where_something_grants_it() -> None:
    size = SIZES["Standard_ND128isr_GB300_v6"]
    one = node(size=size.name, offers={"rdma/mine": "8", "nvidia.com/gpu": "4"})
    way = decided(ways([one], size, Seen()), mode="sriov")
    pool = found_pool("nd", [one], way, selector={}, nvlink=False)
    assert pool.promised_resources == {"nvidia.com/gpu": 4, "rdma/mine": size.infiniband.hca_count}
    assert (pool.has_compute_domain, pool.changed(node_count=2).rdma_resource) == (False, "rdma/mine")
    assert found_pool("nd", [one], way, selector={}, nvlink=True).has_compute_domain


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


class Cluster:
    """An API server in memory, which grants rights and refuses to make given objects."""

    def __init__(self, *, denied: str = "", refused: str = "") -> None:
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.denied, self.refused, self.asked = denied, refused, list[str]()
        self.renews = False

    def create(self, made: Any) -> Any:
        document = made.to_dict()
        kind = type(made).__name__
        if kind == "SelfSubjectAccessReview":
            about = document["spec"]["resourceAttributes"]
            names = [about["resource"], about.get("subresource")], [about["resource"], about.get("group")]
            plural = "/".join(filter(None, names[0])) if about.get("subresource") else ".".join(filter(None, names[1]))
            self.asked.append(f"{about['verb']} {plural}")
            return SimpleNamespace(status=SimpleNamespace(allowed=self.asked[-1] != self.denied))
        key = (kind, document["metadata"].get("namespace", ""), document["metadata"]["name"])
        if kind == self.refused or key in self.objects:
            raise answer(409)
        document["metadata"]["uid"] = "uid-1"
        self.objects[key] = document
        return type(made).from_dict(document)

    def get(self, kind: Any, name: str, namespace: str = "") -> Any:
        document = self.objects.get((kind.__name__, namespace, name))
        if document is None:
            raise answer(404)
        if kind.__name__ == "Lease" and self.renews:
            document = {**document, "spec": {**document["spec"], "renewTime": f"{len(self.asked)}"}}
            self.asked.append("lease")
        return SimpleNamespace(to_dict=lambda: document)

    def list(self, kind: Any, namespace: str = "", labels: Any = None) -> Iterator[Any]:
        for (name, place, _), document in list(self.objects.items()):
            has = document["metadata"].get("labels") or {}
            if name == kind.__name__ and namespace in ("", place) and (labels or {}).items() <= has.items():
                yield SimpleNamespace(to_dict=lambda document=document: document)

    def patch(self, *_: Any, **__: Any) -> None:
        pass

    def delete(self, kind: Any, name: str) -> None:
        del self.objects[kind.__name__, "", name]
        for key in [key for key in self.objects if key[1] == name or key[2].startswith(name)]:
            del self.objects[key]


def answer(status: int) -> ApiError:
    body = {"kind": "Status", "code": status, "message": "no", "reason": "x", "status": "Failure"}
    request = httpx2.Request("POST", "https://x")
    return ApiError(request=request, response=httpx2.Response(status, json=body, request=request))


def test_what_a_run_brings_is_gone_after_a_success_a_failure_and_an_interruption() -> None:
    for raised in (None, CommandError("x"), KeyboardInterrupt()):
        cluster, run = Cluster(), a_plan().brought
        with suppress(CommandError, KeyboardInterrupt), holding.brought(cluster, run, lambda _: None):  # type: ignore[arg-type]
            assert {kind for kind, _, _ in cluster.objects} >= {"Namespace", "Lease", "ConfigMap", "ClusterRole"}
            if raised:
                raise raised
        assert cluster.objects == {}


def test_what_was_made_before_a_refusal_is_gone_and_what_was_there_stays() -> None:
    cluster, run = Cluster(refused="ClusterRole"), a_plan().brought
    with pytest.raises(CommandError, match="could not be made"), holding.brought(cluster, run, str):  # type: ignore[arg-type]
        pytest.fail("nothing is measured")
    assert cluster.objects == {}
    theirs = {"metadata": {"name": run.name, "labels": {}}}
    cluster.objects["Namespace", "", run.name] = theirs
    with pytest.raises(CommandError, match="could not be made"), holding.brought(cluster, run, str):  # type: ignore[arg-type]
        pytest.fail("nothing is measured")
    assert list(cluster.objects.values()) == [theirs]


def left_behind(*, pod_of: str | None = None) -> tuple[Cluster, str]:
    cluster, run = Cluster(), Brought()
    cluster.objects["Namespace", "", run.name] = run.namespace
    cluster.objects["Lease", run.name, LEASE] = run.lease("2026-11-28T10:00:00.000000Z")
    if pod_of:
        owners = [{"kind": pod_of, "name": "x", "uid": "x", "controller": True}]
        cluster.objects["Pod", run.name, "p"] = {"metadata": {"name": "p", "ownerReferences": owners}}
    return cluster, run.name


def test_the_next_run_deletes_what_a_killed_one_left_and_nothing_that_it_cannot_prove(
    capsys: pytest.CaptureFixture[str],
) -> None:
    slept = list[float]()
    cluster, name = left_behind(pod_of="Job")
    assert holding.clear_left(cluster, str, sleep=slept.append)  # type: ignore[arg-type]
    assert (cluster.objects, slept) == ({}, [30])
    assert f"had left namespace {name}: deleting it" in capsys.readouterr().err

    cluster, name = left_behind()
    cluster.renews = True
    assert not holding.clear_left(cluster, str, sleep=slept.append)  # type: ignore[arg-type]
    assert len(cluster.objects) == 2
    assert f"at work in namespace {name}" in capsys.readouterr().err

    cluster, name = left_behind(pod_of="ReplicaSet")
    holding.clear_left(cluster, str, sleep=slept.append)  # type: ignore[arg-type]
    assert len(cluster.objects) == 3
    assert "pod p is not that run's: it stays" in capsys.readouterr().err

    cluster = Cluster()
    forged = Brought().namespace
    forged["metadata"]["name"] = "production"
    cluster.objects["Namespace", "", "production"] = forged
    assert not holding.clear_left(cluster, str, sleep=lambda _: pytest.fail("nothing to wait for"))  # type: ignore[arg-type]
    assert list(cluster.objects) == [("Namespace", "", "production")]


def test_every_right_is_asked_for_beforehand_and_a_missing_one_is_named() -> None:
    needed = rights.needed(a_plan().brought, cordon=True)
    cluster = Cluster()
    rights.require(cluster, needed)  # type: ignore[arg-type]
    group = "rbac.authorization.k8s.io"
    assert {"create namespaces", f"create clusterroles.{group}", "create jobs.batch", "patch nodes"} <= {*cluster.asked}
    assert "get pods/log" in {f"{one.verb} {one.resource}" for one in rights.needed(Brought())}
    assert "patch nodes" not in {f"{one.verb} {one.resource}" for one in rights.needed(a_plan().brought)}
    for denied in cluster.asked:
        refusing = Cluster(denied=denied)
        with pytest.raises(CommandError, match=f"nothing was made .*{denied}"):
            rights.require(refusing, needed)  # type: ignore[arg-type]
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


def test_what_to_give_is_said_where_the_cluster_leaves_it_open() -> None:
    chosen = Chosen(name="nd", selector={"team": "x"}, nodes=[node()])
    with pytest.raises(CommandError, match="--mode driver-only measures with privileged pods"):
        unmanaged(chosen, Seen(), Asked(), nvlink=False)
    asked = Asked(mode="driver-only")
    assert unmanaged(chosen, Seen(), asked, nvlink=False).way == privileged([node()], Seen())
    mine = replace(chosen, nodes=[node(offers={"rdma/mine": "8"})])
    with pytest.raises(CommandError, match=r"--mode says which, and --rdma-resource"):
        unmanaged(mine, Seen(), Asked(), nvlink=False)


@pytest.fixture
def no_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A cluster with a pool, in which no stack has left anything and no pod measures."""
    read: Any = ({}, [SHARING], [])
    monkeypatch.setattr(validating, "read_cluster", lambda *_: read)
    monkeypatch.setattr(plan, "offers", lambda _: (Seen(), ["nicclusterpolicies: forbidden"]))
    monkeypatch.setattr(validating, "operators_in", lambda _: set())
    monkeypatch.setattr(validating, "measure", lambda *_: pytest.fail("nobody asked for that"))
    return ["validate", "--kubeconfig", str(kubeconfig_in(tmp_path))]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "--pool NAME, as AKS calls the pool, or --selector LABEL=VALUE (pool nd: 1 of Standard_ND96isr_H100_v5)"),
        (["--pool", "hb"], "no node has this label of AKS (kubernetes.azure.com/agentpool): pool nd: 1 of"),
        (["--pool", "nd", "--selector", "a=b"], "--pool and --selector: give one of them"),
        (["--selector", "team"], "'team' must be LABEL=VALUE"),
        (["--selector", "te am=x"], "must be a Kubernetes label key"),
        (["--selector", "team=x,team=y"], "must have a label once"),
        (["--selector", "team=y"], "no node has the labels team=y"),
        (["--mode", "best"], "invalid choice: 'best'"),
        (["--pool", "nd"], "how pods get InfiniBand cannot be read: nicclusterpolicies: forbidden"),
        (["--uncordon", "--node", "z"], "z: no such node"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_made(
    no_stack: list[str], capsys: pytest.CaptureFixture[str], flags: list[str], said: str
) -> None:
    with suppress(SystemExit):
        assert main([*no_stack, *flags]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_how_a_stacks_pool_is_measured_is_not_for_flags_to_say(
    no_stack: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = {"metadata": {"name": "a", "labels": {"agentpool": "ndh100"}}}
    monkeypatch.setattr(validating, "read_cluster", lambda *_: ({"ndh100": validation()}, [mine], []))
    assert main([*no_stack, "--mode", "sriov"]) == 2
    assert "the stack says how pool ndh100 is measured" in capsys.readouterr().err
    assert main([*no_stack, "--selector", "agentpool=ndh100"]) == 2
    assert "a stack validates these nodes: --pool ndh100 measures them" in capsys.readouterr().err


def test_a_file_that_is_there_is_refused_before_anything_is_measured(
    no_stack: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kept.json").write_text("first")
    assert main([*no_stack, "--out", str(tmp_path / "kept.json")]) == 2
    assert "is there already, and is not overwritten" in capsys.readouterr().err
