"""Objects in a cluster that have a stack's names and are not the stack's: they are named, and nothing is made."""

import re
import socket
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from aks_infiniband import NetworkOperator, WorkloadGuard, WorkloadGuardArgs
from aks_infiniband.access import client, looking
from aks_infiniband.resources import already_there
from aks_infiniband.resources.options import child_options

from declared.pulumi_mocks import Deploy
from tests.unit.components.others_cluster import OthersCluster, listed

OURS = {"labels": {"app.kubernetes.io/part-of": "aks-infiniband"}}
NAMESPACES = "/api/v1/namespaces"
RELEASES = f"{NAMESPACES}/network-operator/secrets"
POLICY = "/apis/mellanox.com/v1alpha1/nicclusterpolicies/nic-cluster-policy"
KINDS = {
    path: {"kind": "APIResourceList", "resources": [{"name": name, "kind": kind, "namespaced": False}]}
    for path, name, kind in (
        ("/api/v1", "namespaces", "Namespace"),
        ("/apis/mellanox.com/v1alpha1", "nicclusterpolicies", "NicClusterPolicy"),
    )
}
_SERVERS: dict[str, Any] = {"f:metadata": {"f:labels": {"f:kubernetes.io/metadata.name": {}}}}


def by(manager: str, fields: Mapping[str, Any] = _SERVERS) -> dict[str, Any]:
    return {"managedFields": [{"manager": manager, "operation": "Update", "fieldsV1": fields}]}


def kept_by(stack: str) -> dict[str, Any]:
    return {**OURS, "annotations": {"aks-infiniband/stack": stack}}


def objects(metadata: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Objects with this metadata, by path."""
    return {path: {"metadata": {"name": path.rpartition("/")[2], **more}} for path, more in metadata.items()}


MADE_BY_HELM = objects({f"{NAMESPACES}/network-operator": by("helm")})


@pytest.fixture
def others(others: OthersCluster) -> OthersCluster:
    """A cluster with the kinds of the stack's objects and none of the objects."""
    others.answers = dict(KINDS)
    return others


def up(deploy: Deploy, others: OthersCluster, *, preview: bool = False) -> Any:
    return deploy(others.program(), preview=preview, hooks=True)


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({f"{NAMESPACES}/network-operator": by("helm")}, r"Namespace network-operator \(made by helm\)"),
        (
            {f"{NAMESPACES}/aks-infiniband": by("kubectl-create")},
            r"Namespace aks-infiniband \(made by kubectl-create\)",
        ),
        (
            {POLICY: by("kubectl-client-side-apply", {})},
            r"NicClusterPolicy nic-cluster-policy \(made by kubectl-client",
        ),
        (
            {f"{NAMESPACES}/aks-infiniband-system": kept_by("lab/other")},
            "stack lab/other keeps this cluster, and this is stack aks-infiniband/dev",
        ),
        (
            {f"{NAMESPACES}/network-operator": {**OURS, **by("helm")}},
            r"(?s)Namespace network-operator \(made by helm\).*pulumi state delete URN",
        ),
    ],
)
def test_what_others_have_made_is_named_with_its_maker_and_nothing_is_made(
    deploy: Deploy, others: OthersCluster, made: dict[str, Any], words: str, preview: bool
) -> None:
    others.answers |= objects(made)
    with pytest.raises(Exception, match=words):
        up(deploy, others, preview=preview)


def test_a_release_of_helms_is_told_from_ours_by_its_namespace(deploy: Deploy, others: OthersCluster) -> None:
    versions = {"1": "failed", "12": "deployed"}
    others.answers[RELEASES] = listed(
        *({"labels": {"version": version, "status": status}} for version, status in versions.items())
    )
    with pytest.raises(Exception, match=r"Helm release network-operator/network-operator \(deployed\)"):
        up(deploy, others)
    others.answers |= objects({f"{NAMESPACES}/network-operator": kept_by("aks-infiniband/dev")})
    assert up(deploy, others).registrations


def test_what_an_earlier_update_of_the_stack_has_made_is_gone_on_with(deploy: Deploy, others: OthersCluster) -> None:
    others.answers |= objects(
        {
            f"{NAMESPACES}/aks-infiniband-system": kept_by("aks-infiniband/dev"),
            f"{NAMESPACES}/network-operator": {**OURS, **by("pulumi-kubernetes-1a2b3c4d")},
            POLICY: {**OURS, **by("kubectl-edit", {})},
        }
    )
    assert up(deploy, others).registrations


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (
            kept_by("lab/other"),
            r"(?s)Namespace network-operator \(made by stack lab/other\).*networkOperator.existing: true",
        ),
        (
            {**OURS, **by("pulumi-kubernetes-1a2b3c4d")},
            r"kubectl annotate namespace network-operator aks-infiniband/stack=aks-infiniband/dev; else",
        ),
    ],
)
def test_what_another_stack_or_an_unknown_one_has_made_is_not_taken(
    deploy: Deploy, others: OthersCluster, found: dict[str, Any], words: str
) -> None:
    others.answers |= objects({f"{NAMESPACES}/network-operator": found})
    with pytest.raises(Exception, match=words):
        up(deploy, others)


@pytest.mark.parametrize("preview", [True, False])
def test_a_component_alone_refuses_too(deploy: Deploy, others: OthersCluster, preview: bool) -> None:
    others.answers |= MADE_BY_HELM
    wanted = others.stack().network_operator(others.kubeconfig)
    assert wanted is not None

    def program() -> None:
        opts = pulumi.ResourceOptions(provider=kubernetes.Provider("lab", kubeconfig=others.kubeconfig))
        NetworkOperator("alone", args=wanted, opts=opts)

    with pytest.raises(Exception, match=r"Namespace network-operator \(made by helm\)"):
        deploy(program, preview=preview, hooks=True)


def test_the_kubeconfig_of_the_surroundings_is_that_of_a_component_without_a_provider(
    deploy: Deploy, others: OthersCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config"
    monkeypatch.setenv("KUBECONFIG", str(file))
    with pytest.raises(Exception, match=r"does not report what it has.*cannot be read"):
        deploy(lambda: WorkloadGuard("alone", args=WorkloadGuardArgs()) and None, hooks=True)


def test_what_is_imported_or_outlives_the_stack_is_left_to_its_owner(deploy: Deploy, others: OthersCluster) -> None:
    others.answers |= MADE_BY_HELM

    def program() -> None:
        provider = kubernetes.Provider("lab", kubeconfig=others.kubeconfig)
        parent = pulumi.ComponentResource("theirs:index:Theirs", "theirs")
        for name, kept in (("imported", {"import_": "network-operator"}), ("kept", {"retain_on_delete": True})):
            opts = child_options(parent, None, provider=provider, **kept)
            kubernetes.core.v1.Namespace(name, metadata={"name": "network-operator"}, opts=opts)

    made = deploy(program, hooks=True)
    assert [found.inputs["metadata"] for found in made.all("kubernetes:core/v1:Namespace")] == [
        {"name": "network-operator"}
    ] * 2


@pytest.mark.parametrize("status", [403, 500])
def test_an_update_that_is_not_told_makes_nothing_and_a_preview_goes_on(
    deploy: Deploy, others: OthersCluster, status: int
) -> None:
    others.answers[f"{NAMESPACES}/network-operator"] = status
    with pytest.raises(Exception, match="does not report what it has"):
        up(deploy, others)
    assert up(deploy, others, preview=True).registrations


def nothing_reaches_it(tries: Iterator[int]) -> tuple[Any, str, Any]:
    connect = client.connect_plainly

    def late(kubeconfig: str, *, request_seconds: float) -> Any:
        if next(tries) < 3:
            raise OSError("no such host yet")
        return connect(kubeconfig, request_seconds=request_seconds)

    return client, "connect_plainly", late


def it_takes_too_long(tries: Iterator[int]) -> tuple[Any, str, Any]:
    answer = looking.within_limit

    async def late(asked: Any, limit_seconds: float) -> Any:
        return None if next(tries) < 3 else await answer(asked, limit_seconds)

    return already_there, "within_limit", late


@pytest.mark.parametrize("at_first", [nothing_reaches_it, it_takes_too_long])
def test_an_update_waits_for_the_answer_of_an_api_server(
    deploy: Deploy, others: OthersCluster, monkeypatch: pytest.MonkeyPatch, at_first: Any
) -> None:
    others.answers |= MADE_BY_HELM
    monkeypatch.setattr(already_there, "_PAUSE_SECONDS", 0.01)
    tries = count()
    monkeypatch.setattr(*at_first(tries))
    with pytest.raises(Exception, match=r"Namespace network-operator \(made by helm\)"):
        up(deploy, others)
    assert next(tries) == 4


def test_an_update_of_a_cluster_that_nothing_reaches_makes_nothing_and_a_preview_goes_on(
    deploy: Deploy, others: OthersCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(already_there, "_ANSWER_SECONDS", 0)
    monkeypatch.setattr(already_there, "_PAUSE_SECONDS", 0.01)
    with socket.socket() as not_listening:
        not_listening.bind(("127.0.0.1", 0))
        port = not_listening.getsockname()[1]
        others.kubeconfig = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", others.kubeconfig)
        with pytest.raises(Exception, match="does not report what it has"):
            up(deploy, others)
        assert up(deploy, others, preview=True).registrations


def test_the_namespace_that_says_whose_the_cluster_is_comes_before_all_else(
    deploy: Deploy, others: OthersCluster
) -> None:
    made = up(deploy, others)
    first = next(found for found in made.registrations if found.name == "rdma-system")
    assert first.inputs["metadata"]["annotations"] == {"aks-infiniband/stack": "aks-infiniband/dev"}
    rest = [found for found in made.registrations if found.type.startswith("kubernetes:") and found is not first]
    assert rest
    assert [found.name for found in rest if "rdma-system" not in found.dependencies] == []


@pytest.mark.parametrize(
    ("numbered", "names"),
    [
        (False, ["there-already", "there-already-lab", "there-already-N", "there-already-lab-N"]),
        (True, ["there-already-N", "there-already-lab-N", "there-already-N-N", "there-already-lab-N"]),
    ],
)
def test_a_hook_has_a_name_that_the_engine_does_not_know_yet(numbered: bool, names: list[str]) -> None:
    """One connection: the engine's own provider, one by name, one of another process, and the same name again."""
    naming, taken = already_there.HookNames(numbered=numbered), list[str]()
    for provider in (None, "lab", "", "lab"):
        taken.append(naming.name(provider, taken))
    assert len(set(taken)) == len(taken)
    assert [re.sub(r"\b\d+\b", "N", name.removeprefix("aks-infiniband-")) for name in taken] == names
    elsewhere = naming.name("lab", ())
    assert (elsewhere in taken) is not numbered, "two components of another language have connections of their own"
