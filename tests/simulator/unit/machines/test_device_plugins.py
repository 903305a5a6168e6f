import json
from typing import Any

import pytest

from rehearsal.machines.hardware.device_plugins import PluginConfigError, gpus, shared_rdma, sriov
from rehearsal.machines.hardware.kernel_modules import INBOX_MODULES
from rehearsal.machines.hardware.model import hardware_of

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
SYSTEM = hardware_of(size="Standard_D8s_v5", machine="node-1", fabric="none")
INBOX = frozenset(INBOX_MODULES)
LOADED = INBOX | {"ib_umad", "ib_ipoib", "rdma_ucm"}


def shared_config(**entry: Any) -> str:
    return json.dumps({"configList": [{"resourceName": "shared_ib", "rdmaHcaMax": 63} | entry]})


def sriov_config(**entry: Any) -> str:
    return json.dumps({"resourceList": [{"resourcePrefix": "rdma", "resourceName": "ib"} | entry]})


def test_infiniband_selectors_share_the_hcas_and_not_the_ethernet_device() -> None:
    config = shared_config(selectors={"vendors": ["15b3"], "linkTypes": ["infiniband"]})
    (offer,) = shared_rdma(config, H100, LOADED)
    assert (offer.name, offer.count, offer.rdma_devices) == ("rdma/shared_ib", 63, H100.hcas)
    (offer,) = shared_rdma(config, SYSTEM, LOADED)
    assert offer.count == 0


def test_without_a_link_type_the_ethernet_device_is_handed_out_too() -> None:
    config = shared_config(selectors={"vendors": ["15b3"]})
    assert "mlx5_8" in {device.name for device in shared_rdma(config, H100, LOADED)[0].rdma_devices}
    assert shared_rdma(config, SYSTEM, LOADED)[0].count == 63
    assert sriov(sriov_config(selectors={"vendors": ["15b3"]}), H100, LOADED)[0].count == 9


@pytest.mark.parametrize(
    ("selectors", "count"),
    [
        ({"vendors": ["8086"]}, 0),
        ({"deviceIDs": ["101e"]}, 63),
        ({"deviceIDs": ["101c"]}, 0),
        ({"drivers": ["mlx5_core"]}, 63),
        ({"drivers": ["mlx5_ib"]}, 0),
        ({"ifNames": [H100.hcas[0].interface]}, 63),
        ({"ifNames": ["ibP257p0s0"]}, 0),
        ({"ifNames": ["ib0"]}, 0),
        ({"linkTypes": ["IB"]}, 0),
    ],
)
def test_selectors_of_the_shared_plugin(selectors: dict[str, list[str]], count: int) -> None:
    assert shared_rdma(shared_config(selectors=selectors), H100, LOADED)[0].count == count


def test_exclusive_devices_are_counted() -> None:
    config = sriov_config(selectors={"vendors": ["15b3"], "linkTypes": ["infiniband"], "isRdma": True})
    (offer,) = sriov(config, H100, LOADED)
    assert (offer.name, offer.count, offer.shared) == ("rdma/ib", 8, False)


def test_the_sriov_plugin_offers_no_resource_for_selectors_that_match_nothing() -> None:
    assert sriov(sriov_config(selectors={"vendors": ["8086"]}), H100, LOADED) == []
    assert sriov(sriov_config(selectors={"rootDevices": ["0000:86:00.0"]}), H100, LOADED) == []


def test_the_sriov_plugins_selectors_may_be_alternatives() -> None:
    config = sriov_config(selectors=[{"devices": ["101e"]}, {"linkTypes": ["ether"]}])
    assert sriov(config, H100, LOADED)[0].count == 9


def test_prefixes_default_to_those_of_the_plugins() -> None:
    everything = {"vendors": ["15b3"]}
    assert (
        shared_rdma(shared_config(selectors=everything, resourcePrefix="acme"), H100, LOADED)[0].name
        == "acme/shared_ib"
    )
    assert sriov(sriov_config(selectors=everything, resourcePrefix=""), H100, LOADED)[0].name == "intel.com/ib"


def test_gpus_are_nvidias() -> None:
    assert [(offer.name, offer.count) for offer in gpus(H100)] == [("nvidia.com/gpu", 8)]
    amd = hardware_of(size="Standard_ND96isr_MI300X_v5", machine="node-2", fabric="one")
    assert gpus(amd)[0].count == 0


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("{", "is not JSON"),
        ("{}", "has no list configList"),
        (json.dumps({"configList": [{"rdmaHcaMax": 1}]}), "lacks a resourceName"),
        (shared_config(rdmaHcaMax="many", selectors={"vendors": ["15b3"]}), "rdmaHcaMax is 'many'"),
        (shared_config(selectors={}), "neither selectors nor devices"),
    ],
)
def test_a_configuration_that_the_plugin_refuses_says_why(config: str, message: str) -> None:
    with pytest.raises(PluginConfigError, match=message):
        shared_rdma(config, H100, LOADED)


@pytest.mark.parametrize("missing", ["ib_umad", "rdma_ucm", "ib_uverbs"])
def test_the_shared_plugin_offers_none_while_a_character_device_is_missing(missing: str) -> None:
    config = shared_config(selectors={"vendors": ["15b3"]})
    assert shared_rdma(config, H100, LOADED - {missing})[0].count == 0
    assert sriov(sriov_config(selectors={"vendors": ["15b3"]}), H100, LOADED - {missing})[0].count == 9


def test_link_types_select_nothing_while_hcas_have_no_interface() -> None:
    selectors = {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
    inbox = LOADED - {"ib_ipoib"}
    assert shared_rdma(shared_config(selectors=selectors), H100, inbox)[0].count == 0
    assert sriov(sriov_config(selectors=selectors), H100, inbox) == []
    assert shared_rdma(shared_config(selectors={"deviceIDs": ["101e"]}), H100, inbox)[0].count == 63


@pytest.mark.parametrize(
    "size",
    [
        "Standard_ND96isr_H100_v5",
        "Standard_ND96amsr_A100_v4",
        "Standard_HB176rs_v4",
        "Standard_ND128isr_GB300_v6",
        "Standard_ND96isr_MI300X_v5",
    ],
)
def test_the_stand_in_shares_what_the_real_shared_plugin_does(size: str) -> None:
    # Recorded as shared-device-plugin (tests/field_recordings/devices.yaml).
    hardware = hardware_of(size=size, machine="m", fabric="f")
    selectors = {"vendors": ["15b3"], "drivers": ["mlx5_core"]}
    config = json.dumps({"configList": [{"resourceName": "ib", "rdmaHcaMax": 63, "selectors": selectors}]})
    (resource,) = shared_rdma(config, hardware, ("ib_umad", "ib_uverbs", "rdma_ucm"))
    assert (resource.count, resource.rdma_devices) == (63, hardware.rdma_devices)
    (without,) = shared_rdma(config, hardware, ("ib_uverbs", "rdma_ucm"))
    assert without.count == 0
