"""A simulated node says of itself what a recorded one of AKS did, in the same form."""

import json
import re
from typing import Any

import pytest

from rehearsal.azure.node_parts import allocatable, capacity
from rehearsal.azure.subscription import Size
from tests.simulator.unit.azure.asking import Azure, cluster_inputs, pool_inputs
from tests.unit.field_recordings.recordings import excerpt
from tests.unit.field_recordings.shapes import body, flat

POOL = "containerservice:AgentPool"
PREFIX = "kubernetes.azure.com/"
OF_NETWORK_AND_IDENTITY = {
    *(f"{PREFIX}network-{part}" for part in ("name", "resourcegroup", "subnet", "subscription")),
    *(f"{PREFIX}{name}" for name in ("consolidated-additional-properties", "kubelet-identity-client-id")),
    f"{PREFIX}nodenetwork-vnetguid",
}
"""Labels that the simulation leaves out: no program selects a node by them."""
ROLES = {"kubernetes.io/role", "node-role.kubernetes.io/agent"}
"""Labels that older nodes of AKS had, and that those of Kubernetes 1.32 no longer have."""


@pytest.fixture
def pool(azure: Azure) -> dict[str, Any]:
    return pool_in(azure, osSKU="Ubuntu2204")


def pool_in(azure: Azure, *, size: str = "Standard_HB120rs_v3", **settings: Any) -> dict[str, Any]:
    group = azure.create("resources:ResourceGroup", "rg")
    cluster = azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
    return azure.create(POOL, "nodepool1", **pool_inputs(cluster, vmSize=size, **settings))


def node_of(azure: Azure) -> dict[str, Any]:
    return next(node for name, node in azure.machines.nodes.items() if name.startswith("aks-nodepool1-"))


def recorded_labels(recording: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in excerpt(recording).splitlines())


def form(text: str) -> str:
    """A pattern of whatever has other digits at the same places: names, versions, dates."""
    return re.sub(r"[0-9]+", "[0-9]+", re.escape(text).replace(r"\-", "-"))


def test_it_is_named_and_tells_of_its_system_as_the_recorded_node(azure: Azure, pool: dict[str, Any]) -> None:
    heading, row = excerpt("ordinary-node").splitlines()
    starts = [match.start() for match in re.finditer(r"\S+", heading)]
    cells = [row[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
    recorded = dict(zip(heading.split(), cells, strict=True))
    node = node_of(azure)
    info = node["status"]["nodeInfo"]
    simulated = {
        "NAME": node["metadata"]["name"],
        "VERSION": info["kubeletVersion"],
        "OS-IMAGE": info["osImage"],
        "KERNEL-VERSION": info["kernelVersion"],
        "CONTAINER-RUNTIME": info["containerRuntimeVersion"],
    }
    for column, value in simulated.items():
        assert re.fullmatch(form(recorded[column]), value), column


def test_the_node_image_has_the_recorded_form_and_stands_at_node_and_pool_alike(
    azure: Azure, pool: dict[str, Any]
) -> None:
    version = node_of(azure)["metadata"]["labels"]["kubernetes.azure.com/node-image-version"]
    assert re.fullmatch(form(excerpt("node-image").strip()), version)
    assert pool["nodeImageVersion"] == version


def test_a_pool_shows_the_recorded_fields_and_what_aks_chose_for_them(pool: dict[str, Any]) -> None:
    of_other_sizes = flat(body("aks-pool-gpu"))
    recorded = {**of_other_sizes, **json.loads(excerpt("pool-of-a-cluster")), **json.loads(excerpt("pool"))}
    known = {field.casefold(): value for field, value in recorded.items()}
    ours = {"id", "azureapiversion", *(field.casefold() for field in (*pool["__inputs"], "__inputs"))}
    shown = {field.casefold(): value for field, value in pool.items() if field.casefold() not in ours}
    assert set(shown) <= set(known)
    for chosen in ("upgradesettings", "securityprofile", "powerstate"):
        lower = {field.casefold(): value for field, value in known[chosen].items() if value is not None}
        assert {field.casefold(): value for field, value in shown[chosen].items()} == lower, chosen
    for chosen in ("scaledownmode", "provisioningstate"):
        assert shown[chosen] == known[chosen]
    assert shown["type"] == known["typepropertiestype"]


def test_a_node_has_the_labels_of_a_recorded_one_of_an_overlay_with_a_managed_disk(azure: Azure) -> None:
    pool_in(azure, mode="System", osSKU="Ubuntu2204", osDiskType="Managed")
    labels, recorded = node_of(azure)["metadata"]["labels"], recorded_labels("node-labels")
    assert recorded.keys() - labels.keys() == OF_NETWORK_AND_IDENTITY
    assert labels.keys() <= recorded.keys()
    of_machine = {f"{PREFIX}{name}" for name in ("os-sku", "os-sku-requested", "sku-cpu", "sku-memory", "agentpool")}
    for label in {label for label in labels if label.startswith(PREFIX)} - of_machine - {f"{PREFIX}cluster"}:
        assert re.fullmatch(form(recorded[label]), labels[label]), label
    assert (labels[f"{PREFIX}sku-cpu"], labels[f"{PREFIX}sku-memory"]) == ("120", str(456 * 1024))


@pytest.mark.parametrize(
    ("recording", "size", "disk"),
    [("node-gpu", "Standard_ND96asr_v4", "Ephemeral"), ("node-infiniband", "Standard_HB120rs_v3", "Managed")],
)
def test_a_node_has_the_labels_of_recorded_ones_with_gpus_and_with_infiniband(
    azure: Azure, recording: str, size: str, disk: str
) -> None:
    spot = {"scaleSetPriority": "Spot"} if f"{PREFIX}scalesetpriority" in excerpt(recording) else {}
    pool_in(azure, size=size, osDiskType=disk, **spot)
    labels, recorded = node_of(azure)["metadata"]["labels"], recorded_labels(recording)
    assert recorded.keys() - labels.keys() <= OF_NETWORK_AND_IDENTITY | ROLES
    assert {label for label in labels if "accelerator" in label or "storage" in label} == {
        label for label in recorded if "accelerator" in label or "storage" in label
    } | ({"storageprofile", "storagetier"} if disk == "Managed" else set())


def test_aks_keeps_for_itself_what_it_keeps_of_a_recorded_node() -> None:
    recorded = json.loads(excerpt("node-resources"))
    size = Size.model_validate({"series": "Dasv4", "vcpus": 2, "memoryGib": 8})
    has, leaves = capacity(size, 128, 110), allocatable(size, 128, 110)
    assert leaves["cpu"] == recorded["allocatable"]["cpu"]
    assert kibibytes(has) - kibibytes(leaves) == kibibytes(recorded["capacity"]) - kibibytes(recorded["allocatable"])
    for simulated, real in ((has, recorded["capacity"]), (leaves, recorded["allocatable"])):
        assert simulated.keys() == real.keys()
        for resource, value in simulated.items():
            assert re.fullmatch(form(real[resource]), value), resource


def kibibytes(resources: dict[str, str]) -> int:
    """Amount of memory."""
    return int(resources["memory"].removesuffix("Ki"))
