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
from aks_infiniband import NetworkOperator, RdmaCluster, RdmaClusterArgs, WorkloadGuard, WorkloadGuardArgs
from aks_infiniband.access import client, looking
from aks_infiniband.resources import already_there
from aks_infiniband.resources.options import child_options

from declared.pulumi_mocks import Deploy
from tests.unit.components.others_cluster import kubeconfig_of, stack_in

OURS = {"labels": {"app.kubernetes.io/part-of": "aks-infiniband"}}
NAMESPACES = "/api/v1/namespaces"
RELEASES = f"{NAMESPACES}/network-operator/secrets"
POLICY = "/apis/mellanox.com/v1alpha1/nicclusterpolicies/nic-cluster-policy"
KINDS = {
    "/api/v1": [("namespaces", "Namespace", False), ("configmaps", "ConfigMap", True)],
    "/apis/mellanox.com/v1alpha1": [("nicclusterpolicies", "NicClusterPolicy", False)],
}
_SERVERS: dict[str, Any] = {"f:metadata": {"f:labels": {"f:kubernetes.io/metadata.name": {}}}}


def by(manager: str, fields: Mapping[str, Any] = _SERVERS) -> dict[str, Any]:
    return {"managedFields": [{"manager": manager, "operation": "Update", "fieldsV1": fields}]}


def kept_by(stack: str) -> dict[str, Any]:
    return {**OURS, "annotations": {"aks-infiniband/stack": stack}}


class Server:
    """An API server with some objects, by path."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.releases: dict[str, list[dict[str, str]]] = {}
        self.refused = ""
        self.kubeconfig = ""

    def answer(self, path: str, *_: Any) -> tuple[int, Any, dict[str, str]]:
        if path == self.refused:
            return 403, {"kind": "Status", "code": 403, "message": "no"}, {}
        if path in KINDS:
            resources = [{"name": name, "kind": kind, "namespaced": where} for name, kind, where in KINDS[path]]
            return 200, {"kind": "APIResourceList", "resources": resources}, {}
        if path in self.objects:
            return 200, {"metadata": {"name": path.rpartition("/")[2], **self.objects[path]}}, {}
        if path in self.releases:
            return 200, {"items": [{"metadata": {"labels": labels}} for labels in self.releases[path]]}, {}
        return 404, {"kind": "Status", "code": 404, "message": "none"}, {}


@pytest.fixture
def server() -> Iterator[Server]:
    there = Server()
    with kubeconfig_of(there.answer) as there.kubeconfig:
        yield there


def up(deploy: Deploy, server: Server, *, preview: bool = False) -> Any:
    given = stack_in(server.kubeconfig)
    return deploy(
        lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=given)).cluster_name, preview=preview, hooks=True
    )


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize(
    ("objects", "words"),
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
    deploy: Deploy, server: Server, objects: dict[str, Any], words: str, preview: bool
) -> None:
    server.objects = objects
    with pytest.raises(Exception, match=words):
        up(deploy, server, preview=preview)


def test_a_release_of_helms_is_told_from_ours_by_its_namespace(deploy: Deploy, server: Server) -> None:
    server.releases = {RELEASES: [{"version": "1", "status": "failed"}, {"version": "12", "status": "deployed"}]}
    with pytest.raises(Exception, match=r"Helm release network-operator/network-operator \(deployed\)"):
        up(deploy, server)
    server.objects = {f"{NAMESPACES}/network-operator": kept_by("aks-infiniband/dev")}
    assert up(deploy, server).registrations


def test_what_an_earlier_update_of_the_stack_has_made_is_gone_on_with(deploy: Deploy, server: Server) -> None:
    server.objects = {
        f"{NAMESPACES}/aks-infiniband-system": kept_by("aks-infiniband/dev"),
        f"{NAMESPACES}/network-operator": {**OURS, **by("pulumi-kubernetes-1a2b3c4d")},
        POLICY: {**OURS, **by("kubectl-edit", {})},
    }
    assert up(deploy, server).registrations


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
    deploy: Deploy, server: Server, found: dict[str, Any], words: str
) -> None:
    server.objects = {f"{NAMESPACES}/network-operator": found}
    with pytest.raises(Exception, match=words):
        up(deploy, server)


@pytest.mark.parametrize("preview", [True, False])
def test_a_component_alone_refuses_too(deploy: Deploy, server: Server, preview: bool) -> None:
    server.objects = {f"{NAMESPACES}/network-operator": by("helm")}
    wanted = stack_in(server.kubeconfig).network_operator(server.kubeconfig)
    assert wanted is not None

    def program() -> None:
        opts = pulumi.ResourceOptions(provider=kubernetes.Provider("lab", kubeconfig=server.kubeconfig))
        NetworkOperator("alone", args=wanted, opts=opts)

    with pytest.raises(Exception, match=r"Namespace network-operator \(made by helm\)"):
        deploy(program, preview=preview, hooks=True)


def test_the_kubeconfig_of_the_surroundings_is_that_of_a_component_without_a_provider(
    deploy: Deploy, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "config"
    monkeypatch.setenv("KUBECONFIG", str(file))
    with pytest.raises(Exception, match=r"does not report what it has.*cannot be read"):
        deploy(lambda: WorkloadGuard("alone", args=WorkloadGuardArgs()) and None, hooks=True)


def test_what_is_imported_or_outlives_the_stack_is_left_to_its_owner(deploy: Deploy, server: Server) -> None:
    server.objects = {f"{NAMESPACES}/network-operator": by("helm")}

    def program() -> None:
        provider = kubernetes.Provider("lab", kubeconfig=server.kubeconfig)
        parent = pulumi.ComponentResource("theirs:index:Theirs", "theirs")
        for name, kept in (("imported", {"import_": "network-operator"}), ("kept", {"retain_on_delete": True})):
            opts = child_options(parent, None, provider=provider, **kept)
            kubernetes.core.v1.Namespace(name, metadata={"name": "network-operator"}, opts=opts)

    made = deploy(program, hooks=True)
    assert [found.inputs["metadata"] for found in made.all("kubernetes:core/v1:Namespace")] == [
        {"name": "network-operator"}
    ] * 2


def test_an_update_that_is_not_told_makes_nothing_and_a_preview_goes_on(deploy: Deploy, server: Server) -> None:
    server.refused = f"{NAMESPACES}/network-operator"
    with pytest.raises(Exception, match="does not report what it has"):
        up(deploy, server)
    assert up(deploy, server, preview=True).registrations


def test_an_update_waits_for_an_api_server_that_nothing_reaches_yet(
    deploy: Deploy, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.objects = {f"{NAMESPACES}/network-operator": by("helm")}
    monkeypatch.setattr(already_there, "_PAUSE_SECONDS", 0.01)
    connect, tries = client.connect_plainly, count()

    def late(kubeconfig: str, *, request_seconds: float) -> Any:
        if next(tries) < 3:
            raise OSError("no such host yet")
        return connect(kubeconfig, request_seconds=request_seconds)

    monkeypatch.setattr(client, "connect_plainly", late)
    with pytest.raises(Exception, match=r"Namespace network-operator \(made by helm\)"):
        up(deploy, server)
    assert next(tries) == 4


def test_an_update_waits_for_an_api_server_whose_answer_takes_too_long(
    deploy: Deploy, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.objects = {f"{NAMESPACES}/network-operator": by("helm")}
    monkeypatch.setattr(already_there, "_PAUSE_SECONDS", 0.01)
    look, tries = looking.within_limit, count()

    async def late(asked: Any, limit_seconds: float) -> Any:
        return None if next(tries) < 3 else await look(asked, limit_seconds)

    monkeypatch.setattr(already_there, "within_limit", late)
    with pytest.raises(Exception, match=r"Namespace network-operator \(made by helm\)"):
        up(deploy, server)
    assert next(tries) >= 4


def test_an_update_of_a_cluster_that_nothing_reaches_makes_nothing_and_a_preview_goes_on(
    deploy: Deploy, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(already_there, "_ANSWER_SECONDS", 0)
    monkeypatch.setattr(already_there, "_PAUSE_SECONDS", 0.01)
    with socket.socket() as not_listening:
        not_listening.bind(("127.0.0.1", 0))
        port = not_listening.getsockname()[1]
        server.kubeconfig = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", server.kubeconfig)
        with pytest.raises(Exception, match="does not report what it has"):
            up(deploy, server)
        assert up(deploy, server, preview=True).registrations


def test_the_namespace_that_says_whose_the_cluster_is_comes_before_all_else(deploy: Deploy, server: Server) -> None:
    made = up(deploy, server)
    first = next(found for found in made.registrations if found.name == "rdma-system")
    assert first.inputs["metadata"]["annotations"] == {"aks-infiniband/stack": "aks-infiniband/dev"}
    others = [found for found in made.registrations if found.type.startswith("kubernetes:") and found is not first]
    assert others
    assert [found.name for found in others if "rdma-system" not in found.dependencies] == []


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
