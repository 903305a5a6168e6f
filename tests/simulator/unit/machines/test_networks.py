"""Second networks: the request in an annotation, the addresses that there are, and Multus' output."""

import json
from typing import Any

import pytest

from rehearsal.machines.hardware.kernel_modules import INBOX_MODULES
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.network.address_pools import allocations, free_address_of
from rehearsal.machines.network.networks import (
    Attachment,
    AttachmentError,
    Selection,
    configuration,
    network_status,
    parent_device,
    selections,
)

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
LOADED = frozenset({*INBOX_MODULES, "ib_ipoib"})


def node(name: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}}


def pool(allocated: list[dict[str, str]] | None = None, **spec: Any) -> dict[str, Any]:
    given = {"subnet": "192.168.0.0/24", "perNodeBlockSize": 8} | spec
    return {"metadata": {"name": "pool"}, "spec": given, "status": {"allocations": allocated or []}}


def pod(annotation: str) -> dict[str, Any]:
    annotations = {"k8s.v1.cni.cncf.io/networks": annotation}
    return {"metadata": {"name": "p", "namespace": "work", "annotations": annotations}}


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("ib", [("work", "ib", "net1")]),
        ("aks-infiniband/ib, other/second", [("aks-infiniband", "ib", "net1"), ("other", "second", "net2")]),
        ("ib@fast", [("work", "ib", "fast")]),
        (
            '[{"name": "ib", "namespace": "x"}, {"name": "b", "interface": "z"}]',
            [("x", "ib", "net1"), ("work", "b", "z")],
        ),
        ("", []),
    ],
)
def test_an_annotation_names_networks_in_multus_own_ways(annotation: str, expected: list[tuple[str, str, str]]) -> None:
    assert [
        (selection.namespace, selection.name, selection.interface) for selection in selections(pod(annotation))
    ] == expected


def test_an_annotation_that_is_no_json_is_refused() -> None:
    with pytest.raises(AttachmentError, match="parsePodNetworkAnnotation"):
        selections(pod("[{]"))


def test_a_network_that_is_not_there_is_named() -> None:
    with pytest.raises(
        AttachmentError, match=r"cannot find a network-attachment-definition \(ib\) in namespace \(work\)"
    ):
        configuration(Selection(namespace="work", name="ib", interface="net1"), {})


def test_the_parent_is_an_interface_that_the_machine_really_has() -> None:
    assert parent_device({"master": "ibP257p0s0"}, H100, LOADED).name == "mlx5_0"
    for config, modules in (
        ({"master": "ib0"}, LOADED),
        ({"master": "ibP257p0s0"}, frozenset(INBOX_MODULES)),
        ({"master": H100.rdma_devices[-1].interface}, LOADED),
    ):
        with pytest.raises(AttachmentError, match="Link not found"):
            parent_device(config, H100, modules)


def test_every_node_gets_a_block_in_order_of_name_and_keeps_it() -> None:
    first = allocations(pool(), [node("b"), node("a")])
    assert first == [
        {"nodeName": "a", "startIP": "192.168.0.1", "endIP": "192.168.0.8"},
        {"nodeName": "b", "startIP": "192.168.0.9", "endIP": "192.168.0.16"},
    ]
    later = allocations(pool(first), [node("0-new"), node("b")])
    assert {block["nodeName"]: block["startIP"] for block in later} == {"0-new": "192.168.0.1", "b": "192.168.0.9"}


def test_a_changed_block_size_gives_every_node_a_new_block() -> None:
    first = allocations(pool(), [node("a"), node("b")])
    again = allocations(pool(first, perNodeBlockSize=4), [node("a"), node("b")])
    assert [block["endIP"] for block in again] == ["192.168.0.4", "192.168.0.8"]


def test_only_the_nodes_that_the_pool_selects_get_a_block() -> None:
    terms = [{"matchExpressions": [{"key": "agentpool", "operator": "In", "values": ["hb"]}]}]
    made = allocations(pool(nodeSelector={"nodeSelectorTerms": terms}), [node("a", agentpool="hb"), node("b")])
    assert [block["nodeName"] for block in made] == ["a"]


def test_a_subnet_that_is_too_small_leaves_the_last_nodes_without_a_block() -> None:
    made = allocations(pool(subnet="192.168.0.0/28"), [node("a"), node("b")])
    assert [block["nodeName"] for block in made] == ["a"], "8 of the 14 addresses, and 6 make no block"


def test_addresses_are_given_once_and_the_gateways_never() -> None:
    made = pool(allocations(pool(perNodeBlockSize=3), [node("a")]), perNodeBlockSize=3, gateway="192.168.0.1")
    assert free_address_of(made, "a", set()) == "192.168.0.2"
    assert free_address_of(made, "a", {"192.168.0.2"}) == "192.168.0.3"
    assert free_address_of(made, "a", {"192.168.0.2", "192.168.0.3"}) is None
    assert free_address_of(made, "b", set()) is None
    excluded = made | {"spec": made["spec"] | {"exclusions": [{"startIP": "192.168.0.2", "endIP": "192.168.0.2"}]}}
    assert free_address_of(excluded, "a", set()) == "192.168.0.3"


def test_the_status_lists_the_ordinary_network_first() -> None:
    made = Attachment(
        selection=Selection(namespace="work", name="ib", interface="net1"),
        device=H100.hcas[0],
        pool=("network-operator", "pool"),
        address="192.168.0.2",
    )
    default, infiniband = json.loads(network_status("10.244.0.5", [made]))
    assert (default["ips"], default["default"]) == (["10.244.0.5"], True)
    assert (infiniband["name"], infiniband["interface"], infiniband["ips"]) == ("work/ib", "net1", ["192.168.0.2"])
    assert len(infiniband["mac"].split(":")) == 20
