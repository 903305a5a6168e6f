"""A node image of GB200 and GB300 may have drivers; another owner of them is reported before one is installed."""

from typing import Any

from aks_infiniband.facts.node_images import VERSION_LABEL, contradictions
from aks_infiniband.stack.image_owners import contradicting

from tests.some_pools import GB300, pool

WITH_DRIVERS = {VERSION_LABEL: "AKSUbuntu-2404gen2arm64gbcontainerd-202602.19.0"}
WITHOUT = {VERSION_LABEL: "AKSUbuntu-2404gen2arm64containerd-202610.27.0"}


def gb300(**given: Any) -> Any:
    return pool(GB300, "gb300", **{"nic_driver": "inbox", **given})


def test_two_owners_or_none_are_told_with_what_to_set() -> None:
    for labels, given, remedies in [
        (WITHOUT, {}, []),
        (WITHOUT, {"nic_driver": "doca-ofed"}, []),
        (WITHOUT, {"gpu_driver": "image"}, ["gpuDriver: operator for pool gb300"]),
        (WITH_DRIVERS, {"gpu_driver": "image"}, []),
        (WITH_DRIVERS, {"gpu_driver": "none"}, []),
        (WITH_DRIVERS, {}, ["gpuDriver: image for pool gb300"]),
        (
            WITH_DRIVERS,
            {"nic_driver": "doca-ofed"},
            ["nicDriver: inbox for pool gb300", "gpuDriver: image for pool gb300"],
        ),
        (
            WITH_DRIVERS,
            {"gpu_driver": "image", "gpu_device_plugin": "operator"},
            ["gpuDevicePlugin: image for pool gb300"],
        ),
        ({}, {"gpu_driver": "image"}, []),
    ]:
        assert [remedy for _, remedy in contradictions(gb300(**given), labels)] == remedies


def test_other_sizes_have_no_such_image() -> None:
    assert not list(contradictions(pool(), WITH_DRIVERS))


def test_of_many_nodes_with_one_image_each_contradiction_is_told_once() -> None:
    nodes = [{"metadata": {"name": f"n{n}", "labels": {**WITH_DRIVERS, "a": "b"}}} for n in range(3)]
    assert list(contradicting([gb300(node_selector={"a": "b"})], nodes)) == [
        f"node image {WITH_DRIVERS[VERSION_LABEL]} of pool gb300 has the GPU driver, and gpuDriver is operator: two "
        "drivers break the node"
    ]
