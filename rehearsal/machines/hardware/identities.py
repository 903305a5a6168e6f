"""Numbers that distinguish simulated machines and their devices, the same in every run: they derive from names."""

import hashlib


def partition(fabric: str) -> int:
    """The fabric's partition key, with the bit of a full member (0x8000); never the default partition 0x7fff."""
    return 0x8000 | (1 + digest("pkey", fabric) % 0x7FFD)


def guid(machine: str, index: int) -> str:
    """The node GUID of a machine's device with this number."""
    # 00155d is Microsoft's OUI, fffe the middle of an EUI-64; the rest distinguishes machine and device.
    return f"0015:5dff:fe{digest('guid', machine) % 0x100:02x}:{digest('guid', machine, str(index)) % 0x10000:04x}"


def digest(*parts: str) -> int:
    """A number that is always the same for the same parts."""
    return int.from_bytes(hashlib.sha256("/".join(parts).encode()).digest()[:8], "big")
