"""What is in a cluster by a stack's names and is not the stack's: it is named, and nothing is made."""

from collections.abc import Iterator, Mapping
from typing import Any

import pulumi
import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs

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
    return deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=given)).cluster_name, preview=preview)


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
    with pytest.raises(pulumi.RunError, match=words):
        up(deploy, server, preview=preview)


def test_a_release_of_helms_is_told_from_ours_by_its_namespace(deploy: Deploy, server: Server) -> None:
    server.releases = {RELEASES: [{"version": "1", "status": "failed"}, {"version": "12", "status": "deployed"}]}
    with pytest.raises(pulumi.RunError, match=r"Helm release network-operator/network-operator \(deployed\)"):
        up(deploy, server)
    server.objects = {f"{NAMESPACES}/network-operator": OURS}
    assert up(deploy, server).registrations


def test_what_an_earlier_update_of_the_stack_has_made_is_gone_on_with(deploy: Deploy, server: Server) -> None:
    server.objects = {
        f"{NAMESPACES}/aks-infiniband-system": kept_by("aks-infiniband/dev"),
        f"{NAMESPACES}/network-operator": {**OURS, **by("pulumi-kubernetes-1a2b3c4d")},
        POLICY: {**OURS, **by("kubectl-edit", {})},
    }
    assert up(deploy, server).registrations


def test_an_update_that_is_not_told_makes_nothing_and_a_preview_goes_on(deploy: Deploy, server: Server) -> None:
    server.refused = f"{NAMESPACES}/network-operator"
    with pytest.raises(pulumi.RunError, match="does not tell what it has"):
        up(deploy, server)
    assert up(deploy, server, preview=True).registrations


def test_the_namespace_that_says_whose_the_cluster_is_comes_before_all_else(deploy: Deploy, server: Server) -> None:
    made = up(deploy, server)
    first = next(found for found in made.registrations if found.name == "rdma-system")
    assert first.inputs["metadata"]["annotations"] == {"aks-infiniband/stack": "aks-infiniband/dev"}
    others = [found for found in made.registrations if found.type.startswith("kubernetes:") and found is not first]
    assert others
    assert [found.name for found in others if "rdma-system" not in found.dependencies] == []
