"""Listings of real devices are read rightly, and the simulated machine's listings have the same shape."""

import re
from ipaddress import IPv4Interface
from pathlib import Path

import pytest
from aks_infiniband.facts.ranges import network_range

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware.hardware_faults import faulty
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.rdma_tools import listing
from tests.unit.field_recordings.machines import enter
from tests.unit.field_recordings.recordings import excerpt, recordings

H100 = "Standard_ND96isr_H100_v5"
GB300 = "Standard_ND128isr_GB300_v6"
KINDS = (
    (r"'[^']*'", "'NAME'"),
    (r"(0x)?[0-9a-f]{4}(:[0-9a-f]{4}){3}|0x[0-9a-f]{16}\b", "GUID"),
    (r"\b0x[0-9a-f]+\b", "HEX"),
    (r"^hca_id:\s+\S+", "hca_id: NAME"),
    (r"\b\d+(\.\d+)*\b", "NUMBER"),
    (r"\b(Active|Initializing)\b", "STATE"),
    (r"\bM(T|SF)\w+", "PART"),
)
"""Kinds of value, by pattern, the most particular first."""


def shape(text: str) -> list[str]:
    """Labels, indentation and kinds of value, line by line."""
    lines = [line.expandtabs(8).rstrip() for line in text.splitlines() if line.strip()]
    for pattern, kind in KINDS:
        lines = [re.sub(pattern, kind, line) for line in lines]
    return lines


@pytest.fixture
def h100(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The /sys of a simulated ND96isr_H100_v5."""
    return enter(tmp_path, H100, monkeypatch)


def printed(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> str:
    assert listing.devinfo(arguments) == 0
    return capsys.readouterr().out


def test_the_simulated_ibv_devinfo_prints_what_the_real_one_does(
    h100: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ethernet = next(path.name for path in (h100 / "class/infiniband").iterdir() if _layer(path) == "Ethernet")
    real = excerpt("ibv_devinfo-hbv2").partition("\n\n")[0]
    assert shape(printed(capsys, ["-d", ethernet])) == shape(real)


def test_the_simulated_ibstat_prints_what_the_real_one_does(h100: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hca = _hcas(h100)[0]
    assert listing.ibstat([hca.name]) == 0
    assert shape(capsys.readouterr().out) == shape(excerpt("ibstat-nda100"))


def test_an_ethernet_device_has_no_adapter_behind_it_that_the_machine_could_see(
    h100: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = printed(capsys, []).split("hca_id:")[1:]
    (ethernet,) = [block for block in blocks if "Ethernet" in block]
    assert re.search(r"sys_image_guid:\s+0000:0000:0000:0000", ethernet)
    for block in blocks:
        node, image = re.findall(r"(?:node|sys_image)_guid:\s+(\S+)", block)
        assert node != image, "a virtual function has a GUID of its own beside its adapter's"


def test_the_port_of_a_virtual_function_has_a_guid_of_its_own(h100: Path, capsys: pytest.CaptureFixture[str]) -> None:
    real = re.findall(r"(?:Node|Port) GUID: 0x(\w+)", excerpt("ibstat-nda100"))
    listing.ibstat([_hcas(h100)[0].name])
    simulated = re.findall(r"(?:Node|Port) GUID: 0x(\w+)", capsys.readouterr().out)
    for node, port in (real, simulated):
        assert (node[:10], port[:10]) == ("00155dfffe", "00155dfffd")
        assert node[10:] == port[10:]


def test_gpus_and_hcas_sit_where_a_real_machine_has_them(h100: Path) -> None:
    kinds = {"0x030200": "GPU", "0x020700": "NIC"}
    found = [
        (kinds[text(path / "class")], int(text(path / "numa_node")), path.name)
        for path in sorted((h100 / "bus/pci/devices").iterdir())
        if text(path / "class") in kinds
    ]
    real = re.findall(r"(GPU|NIC)\s+numa=(\d)\s+(\S+)", excerpt("pci-ndh100"))
    assert sorted(found) == sorted((kind, int(numa), address) for kind, numa, address in real)


@pytest.mark.parametrize(
    ("recording", "faults"), [("names-aks", []), ("names-hpc-image", [{"fault": "hpc-image-names"}])]
)
def test_devices_have_the_names_that_they_have_on_akss_nodes_unless_an_image_renames_them(
    tmp_path: Path, recording: str, faults: list[dict[str, str]]
) -> None:
    machine_faults.write(tmp_path, faults)
    a100 = hardware_of(size="Standard_ND96asr_v4", machine="node-0", fabric="one")
    devices = faulty(a100, "node-0", tmp_path).rdma_devices
    recorded = excerpt(recording).split()
    assert sorted(device.name for device in devices) == recorded
    (ethernet,) = [device.name for device in devices if device.link_layer == "Ethernet"]
    assert ethernet == (recorded[-1] if recording == "names-aks" else recorded[0])


@pytest.mark.parametrize(
    ("recording", "size"), [("pci-mi300x", "Standard_ND96isr_MI300X_v5"), ("topology-gb300", GB300)]
)
def test_hcas_have_the_addresses_under_the_names_that_were_seen_on_aks(recording: str, size: str) -> None:
    said = " ".join(recordings()[recording]["facts"])
    seen = re.search(r"(mlx5_\d) to (mlx5_\d) are (\S+) to ([\w:.]+)", said)
    assert seen is not None
    first, *_, last = hcas = hardware_of(size=size, machine="node-0", fabric="one").hcas
    assert (first.name, last.name, first.pci.address, last.pci.address) == seen.groups()
    half = len(hcas) // 2
    assert [hca.pci.numa_node for hca in hcas] == [0] * half + [1] * half


def test_gpus_and_hcas_of_gb300_are_as_near_to_each_other_as_nvidia_smi_says() -> None:
    heading, *rows = [line.split() for line in excerpt("topology-gb300").splitlines()]
    machine = hardware_of(size=GB300, machine="node-0", fabric="one")
    assert heading == [f"GPU{gpu.index}" for gpu in machine.gpus] + [f"NIC{hca.index}" for hca in machine.hcas]
    for gpu, (_, *row) in zip(machine.gpus, rows, strict=True):
        near = ["NODE" if hca.pci.numa_node == gpu.pci.numa_node else "SYS" for hca in machine.hcas]
        assert row[len(machine.gpus) :] == near


@pytest.mark.parametrize(("recording", "kind"), [("interfaces-hbv3", "all"), ("ipoib-in-a-pod", "InfiniBand")])
def test_interfaces_are_named_in_the_recorded_form_and_have_the_recorded_alternative_names(
    recording: str, kind: str
) -> None:
    machine = hardware_of(size="Standard_HB120rs_v3", machine="node-0", fabric="one")
    names = re.findall(r"\b(?:enP|ibP)\w+", excerpt(recording))
    for device in machine.rdma_devices if kind == "all" else machine.hcas:
        assert {form(device.interface), form(device.alternative_interface)} <= set(map(form, names))
    assert machine.hcas[0].alternative_interface in names


@pytest.mark.field_report("R17")
def test_the_address_that_azure_gave_an_adapter_lies_in_the_range_that_the_settings_refuse() -> None:
    given = re.search(r"inet (\S+)", excerpt("ipoib-in-a-pod"))
    assert given is not None
    with pytest.raises(ValueError, match="in which Azure gives InfiniBand adapters their addresses"):
        network_range(IPv4Interface(given[1]).network)


def form(name: str) -> str:
    """An interface's name without the numbers in which machines differ: domain of Ethernet, slot of InfiniBand."""
    return re.sub(r"^enP\d+|(?<=s)\d{3,}$", "#", name)


def text(path: Path) -> str:
    return path.read_text().strip()


def _layer(device: Path) -> str:
    return text(device / "ports/1/link_layer")


def _hcas(sys: Path) -> list[Path]:
    return [path for path in sorted((sys / "class/infiniband").iterdir()) if _layer(path) == "InfiniBand"]
