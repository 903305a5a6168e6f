"""Runs on the node, in a pod, as `python3 -c`: prints what the machine says of itself, as one JSON document.

The program has Python's standard library alone. Whatever cannot be read is left out: a machine that is broken says
less.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

_KEY, _VALUE = 512, 2048
"""Bytes of a record in a pool of Hyper-V's key-value pairs (Linux, tools/hv/hv_kvp_daemon.c)."""
_LINES = 200
_SECONDS = 60
_TOLD = re.compile(r"NVRM: Xid|mlx5_core .*(?:[Ll]ink|health|error|fatal|[Tt]emperature)|mlx5_\d+: Port")
"""Lines of the kernel's log that speak of a GPU's error, or of a port."""
_COUNTERS = ("link_downed", "link_error_recovery", "symbol_error", "port_rcv_errors")
_INFINIBAND = "InfiniBand"
"""Azure's accelerated networking is an mlx5 device, too, with another link layer."""
_ASKED = ("index", "name", "serial", "uuid", "pci.bus_id", "vbios_version", "driver_version")


def host_values(pool: bytes) -> dict[str, str]:
    """The host's values for its guest, by name. Keys and values have a fixed length and are filled up with zeros."""
    records = [pool[start : start + _KEY + _VALUE] for start in range(0, len(pool), _KEY + _VALUE)]
    pairs = [(record[:_KEY], record[_KEY:]) for record in records]
    return {_until_zero(key): _until_zero(value) for key, value in pairs if key.strip(b"\0")}


def _until_zero(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", errors="replace")


def serial_number(vpd: bytes) -> str | None:
    """The serial number in the vital product data of a PCI device: the keyword SN, a length, and the text."""
    field = re.search(rb"SN(.)", vpd, flags=re.DOTALL)
    return vpd[field.end() : field.end() + field[1][0]].decode("ascii", errors="replace").strip() if field else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def hcas(root: Path) -> list[dict[str, object]]:
    """The InfiniBand devices of a machine, whose file system is at root."""
    devices = sorted((root / "sys/class/infiniband").glob("*"))
    return [_hca(device) for device in devices if _text(device / "ports/1/link_layer") == _INFINIBAND]


def _hca(device: Path) -> dict[str, object]:
    port = device / "ports/1"
    counters = {name: _text(port / "counters" / name) for name in _COUNTERS}
    return {
        "device": device.name,
        "firmware": _text(device / "fw_ver"),
        "board": _text(device / "board_id"),
        "node_guid": _text(device / "node_guid"),
        "serial_number": serial_number(_bytes(device / "device/vpd")),
        "state": _text(port / "state"),
        "rate": _text(port / "rate"),
        "counters": {name: int(value) for name, value in counters.items() if value and value.isdigit()},
    }


def gpus(root: Path) -> list[dict[str, str]]:
    """The GPUs, as the driver's own nvidia-smi reports them: that of the driver's container, else the machine's."""
    for place in (root / "run/nvidia/driver", root):
        if (place / "usr/bin/nvidia-smi").exists():
            command = ["chroot", str(place), "nvidia-smi", f"--query-gpu={','.join(_ASKED)}", "--format=csv,noheader"]
            try:
                said = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
            except (OSError, subprocess.SubprocessError):
                return []  # a GPU that is broken may hang it
            return [dict(zip(_ASKED, map(str.strip, line.split(",")), strict=False)) for line in said.splitlines()]
    return []


def kernel_lines(messages: str, booted: float) -> list[dict[str, str]]:
    """The newest lines of the kernel's log about GPUs and ports, with their time. booted: seconds since 1970."""
    lines = []
    for message in messages.splitlines():
        head, _, text = message.partition(";")
        parts = head.split(",")
        if len(parts) > 2 and parts[2].isdigit() and _TOLD.search(text):
            moment = time.gmtime(booted + int(parts[2]) / 1e6)
            lines.append({"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", moment), "line": text})
    return lines[-_LINES:]


def _kernel_log(device: Path) -> str:
    """All that the kernel still has; one read is one message."""
    messages = []
    try:
        log = os.open(device, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        while message := os.read(log, 8192):
            messages.append(message.decode("utf-8", errors="replace").partition("\n")[0])
    except BlockingIOError:
        pass
    except OSError:
        messages.append("")  # the log grew meanwhile and has dropped the oldest
    finally:
        os.close(log)
    return "\n".join(messages)


def metadata(url: str) -> dict[str, str]:
    """The virtual machine's ID, size and resource ID, from Azure's instance metadata service."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, headers={"Metadata": "true"})  # noqa: S310 the command says which
    try:
        with opener.open(request, timeout=5) as response:
            said = json.loads(response.read())
    except (OSError, ValueError):
        return {}
    names = ("vmId", "vmSize", "location", "zone", "resourceId", "placementGroupId")
    return {name: str(said[name]) for name in names if said.get(name)}


def evidence(root: Path, url: str) -> dict[str, object]:
    """The machine's facts about itself. root: its file system."""
    host = host_values(_bytes(root / "var/lib/hyperv/.kvp_pool_3"))
    modules = ("mlx5_core", "ib_core", "nvidia", "amdgpu")
    versions = {name: _text(root / "sys/module" / name / "version") for name in modules}
    booted = time.time() - time.clock_gettime(time.CLOCK_MONOTONIC)
    return {
        "physical_host_name": host.get("PhysicalHostName"),
        "metadata": metadata(url),
        "drivers": {name: version for name, version in versions.items() if version},
        "hcas": hcas(root),
        "gpus": gpus(root),
        "kernel": kernel_lines(_kernel_log(root / "dev/kmsg"), booted),
    }


if __name__ == "__main__":
    print(json.dumps(evidence(Path(sys.argv[1]), sys.argv[2])))
