"""Simulated ibv_devinfo and ibstat: what the programs of rdma-core print of the container's devices.

Formats are those of rdma-core 44 (its format strings) and of real machines (tests/field_recordings/devices.yaml), whose
ibstat stops at the Ethernet device of accelerated networking.
"""

import sys

from rehearsal.machines.rdma_tools import real
from rehearsal.machines.rdma_tools.machine import Machine, Port, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from typing import Final

_STATES: "Final" = {"ACTIVE": ("PORT_ACTIVE (4)", "Active"), "DOWN": ("PORT_DOWN (1)", "Down")}
_PART: "Final" = {"0x1018": 4120, "0x101c": 4124, "0x101e": 4126}


def devinfo(arguments: list[str]) -> int:
    """All devices, their names (-l), or one (-d)."""
    if (code := real.hand_over("ibv_devinfo", arguments)) is not None:
        return code
    ports = Machine().verbs()
    if arguments[:1] == ["-l"]:
        print(f"{len(ports)} HCA{'' if len(ports) == 1 else 's'} found:")
        print("".join(f"\t{port.device}\n" for port in ports) + "\n")
        return 0
    if arguments[:1] == ["-d"]:
        ports = [port for port in ports if port.device == arguments[1]]
        if not ports:
            print(f"IB device '{arguments[1]}' wasn't found", file=sys.stderr)
            return 255
    if not ports:
        print("No IB devices found", file=sys.stderr)
        return 255
    print("\n".join(_device(port) for port in ports))
    return 0


def _device(port: Port) -> str:
    part = _PART.get(read_text(f"{port.folder}/device/device"), 4126)
    layer = "InfiniBand" if port.infiniband else "Ethernet"
    rows = [
        f"hca_id:\t{port.device}",
        "\ttransport:\t\t\tInfiniBand (0)",
        f"\tfw_ver:\t\t\t\t{_firmware(port)}",
        f"\tnode_guid:\t\t\t{port.guid}",
        f"\tsys_image_guid:\t\t\t{port.adapter_guid}",
        "\tvendor_id:\t\t\t0x02c9",
        f"\tvendor_part_id:\t\t\t{part}",
        "\thw_ver:\t\t\t\t0x0",
        "\tboard_id:\t\t\tMSF0000000012",
        "\tphys_port_cnt:\t\t\t1",
        "\t\tport:\t1",
        f"\t\t\tstate:\t\t\t{_STATES[port.state][0]}",
        "\t\t\tmax_mtu:\t\t4096 (5)",
        f"\t\t\tactive_mtu:\t\t{'4096 (5)' if port.infiniband else '1024 (3)'}",
        f"\t\t\tsm_lid:\t\t\t{port.sm_lid}",
        f"\t\t\tport_lid:\t\t{port.lid}",
        "\t\t\tport_lmc:\t\t0x00",
        f"\t\t\tlink_layer:\t\t{layer}",
    ]
    return "\n".join([*rows, ""])


def ibstat(arguments: list[str]) -> int:
    """All devices, or one."""
    if arguments[:1] == ["--version"]:
        print("ibstat BUILD VERSION: 44.0")
        return 0
    ports = Machine().ports()
    wanted = [port for port in ports if not arguments or port.device == arguments[0]]
    if arguments and not wanted:
        print(f"ibpanic: [4711] main: '{arguments[0]}' IB device can't be found: Success", file=sys.stderr)
        return 255
    for port in wanted:
        if not port.infiniband:
            said = f"ibpanic: [4711] main: stat of IB device '{port.device}' failed: No such file or directory"
            print(said, file=sys.stderr)
            return 255
        print(_adapter(port))
    return 0


def _adapter(port: Port) -> str:
    node, image, own = ("0x" + guid.replace(":", "") for guid in (port.guid, port.adapter_guid, port.port_guid))
    rows = [
        f"CA '{port.device}'",
        f"\tCA type: MT{_PART.get(read_text(f'{port.folder}/device/device'), 4126)}",
        "\tNumber of ports: 1",
        f"\tFirmware version: {_firmware(port)}",
        "\tHardware version: 0",
        f"\tNode GUID: {node}",
        f"\tSystem image GUID: {image}",
        "\tPort 1:",
        f"\t\tState: {_STATES[port.state][1]}",
        f"\t\tPhysical state: {port.physical_state}",
        f"\t\tRate: {port.rate_gbps:g}",
        f"\t\tBase lid: {port.lid}",
        "\t\tLMC: 0",
        f"\t\tSM lid: {port.sm_lid}",
        "\t\tCapability mask: 0x2651ec48",
        f"\t\tPort GUID: {own}",
        "\t\tLink layer: InfiniBand",
    ]
    return "\n".join(rows)


def _firmware(port: Port) -> str:
    return read_text(f"{port.folder}/fw_ver") or "20.28.4000"
