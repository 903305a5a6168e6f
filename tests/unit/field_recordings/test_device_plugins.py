"""The stand-ins of device plugins offer and refuse what the real ones did over the same files."""

import json
from typing import Any

import pytest

from rehearsal.machines.hardware.device_plugins import OfferedResource, PluginConfigError, shared_rdma, sriov
from rehearsal.machines.hardware.model import hardware_of
from tests.unit.field_recordings.machines import modules_of
from tests.unit.field_recordings.recordings import recorded

CASES = [
    (entry["plugin"], size, fact)
    for entry in recorded("device-plugins")
    for fact in entry["facts"]
    for size in fact["sizes"]
]
"""Each run of a plugin: the machine's size; kernel modules, configuration, and what it offered or said."""


def offered(plugin: str, size: str, fact: dict[str, Any]) -> list[OfferedResource]:
    """The stand-in's offers in such a run."""
    hardware = hardware_of(size=size, machine="node-0", fabric="one")
    config = fact["config"] if isinstance(fact["config"], str) else json.dumps(fact["config"])
    modules = modules_of(fact["modules"])
    if plugin == "shared":
        return shared_rdma(config, hardware, modules)
    return sriov(config, hardware, modules, default_prefix=fact.get("prefix", "intel.com"))


def shown(plugin: str, offer: OfferedResource) -> list[Any]:
    """A resource as the recording has it: the shared plugin's units and numbers of devices, or the PCI addresses."""
    if plugin == "shared":
        return [offer.count, sorted(device.index for device in offer.rdma_devices) if offer.count else []]
    return sorted(device.pci.address for device in offer.rdma_devices)


def test_a_stand_in_offers_what_the_plugin_offered() -> None:
    for plugin, size, fact in CASES:
        if "refused" in fact:
            with pytest.raises(PluginConfigError):
                offered(plugin, size, fact)
        else:
            assert {offer.name: shown(plugin, offer) for offer in offered(plugin, size, fact)} == fact["offered"]
