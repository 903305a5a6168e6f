"""A simulated node says of itself what a recorded one of AKS did, in the same form."""

import json
import re
from typing import Any

import pytest

from tests.unit.azure.asking import Azure, cluster_inputs, pool_inputs
from tests.unit.field_recordings.recordings import excerpt
from tests.unit.field_recordings.shapes import body, flat

POOL = "containerservice:AgentPool"


@pytest.fixture
def pool(azure: Azure) -> dict[str, Any]:
    group = azure.create("resources:ResourceGroup", "rg")
    cluster = azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
    return azure.create(POOL, "nodepool1", **pool_inputs(cluster, vmSize="Standard_HB120rs_v3", osSKU="Ubuntu2204"))


def node_of(azure: Azure) -> dict[str, Any]:
    return next(node for name, node in azure.machines.nodes.items() if name.startswith("aks-nodepool1-"))


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
