"""Shows the InfiniBand of a pod, and fails if that is less than it should be.

Standard library only: it runs in any image with Python 3.10. Every path comes by argument.
"""

import argparse
import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Hca:
    """One InfiniBand device of the machine, with its one port."""

    name: str
    state: str
    rate: str
    pkey: str
    verbs: str | None
    """Its device node in this container; None if the container does not have one."""

    @property
    def usable(self) -> bool:
        return "ACTIVE" in self.state and self.verbs is not None


def find_hcas(sys_class: Path, devices: Path) -> list[Hca]:
    """The InfiniBand devices: by link layer, because names differ from image to image.

    sys_class: /sys/class. devices: /dev/infiniband.
    """
    nodes = {_read(path / "ibdev"): path.name for path in sys_class.glob("infiniband_verbs/uverbs*")}
    hcas = []
    for device in sorted(sys_class.glob("infiniband/*")):
        port = device / "ports" / "1"
        if _read(port / "link_layer") == "InfiniBand":
            node = nodes.get(device.name)
            held = node is not None and (devices / node).exists()
            state, rate, pkey = (_read(port / name) for name in ("state", "rate", "pkeys/0"))
            hcas.append(Hca(device.name, state, rate, pkey, node if held else None))
    return hcas


def missing(hcas: list[Hca], expected: int, interfaces: list[str], sys_class: Path) -> list[str]:
    """The shortfalls, in sentences.

    expected: how many usable HCAs. interfaces: IPoIB interfaces that must be there.
    """
    said = []
    usable = sum(hca.usable for hca in hcas)
    if usable < expected:
        said.append(f"{usable} of {expected} HCAs can be used here")
        said += [f"{hca.name} is {hca.state}" for hca in hcas if "ACTIVE" not in hca.state]
        said += [f"{hca.name} does not have a device node in this container" for hca in hcas if hca.verbs is None]
    said += [f"the interface {name} does not exist" for name in interfaces if not (sys_class / "net" / name).exists()]
    return said


def _read(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else "unknown"


def _limit(number: int) -> str:
    return "unlimited" if number == resource.RLIM_INFINITY else f"{number // 1024} KiB"


def main() -> int:
    """Print what there is; 1 if something is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hcas", type=int, required=True, help="HCAs that this pod should be able to use")
    parser.add_argument("--interface", action="append", default=[], help="an IPoIB interface that should be there")
    parser.add_argument("--sys-class", type=Path, required=True)
    parser.add_argument("--devices", type=Path, required=True)
    asked = parser.parse_args()
    print(f"node {os.environ.get('NODE_NAME', 'unknown')}")
    hcas = find_hcas(asked.sys_class, asked.devices)
    for hca in hcas:
        print(f"{hca.name}: {hca.state}, {hca.rate}, partition {hca.pkey}, {hca.verbs or 'no device node'}")
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    print(f"locked memory: {_limit(soft)}, at most {_limit(hard)}; with IPC_LOCK, root is not held to it")
    for name, value in sorted(os.environ.items()):
        if name.startswith("NCCL_"):
            print(f"{name}={value}")
    said = missing(hcas, asked.hcas, asked.interface, asked.sys_class)
    topology = os.environ.get("NCCL_TOPO_FILE")
    if topology and not Path(topology).is_file():
        said.append(f"the file {topology}, which NCCL_TOPO_FILE names, does not exist")
    for sentence in said:
        print(f"missing: {sentence}", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
