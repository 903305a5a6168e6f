"""What is wrong with the machines of a run: a list in `faults.json` of the run folder, read whenever somebody looks.

Each entry has `fault`, a name below, `node` and `device` (shell patterns; left out: all), and what the fault needs.
`make rehearse FAULTS=file` puts it there; a person, or a test, may also write it by hand while the run goes on.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Mapping
    from typing import Any, Final

RUN_FOLDER_VARIABLE: "Final" = "AKS_INFINIBAND_REHEARSAL"
FILE: "Final" = "faults.json"

FAULTS: "Final[Mapping[str, str]]" = {
    "link-down": "the port is Down, its physical state Polling",
    "half-rate": "the link trained with half its lanes",
    "missing": "the HCA is not on the PCI bus",
    "missing-gpu": "the GPU of this index (`gpu`) is not on the PCI bus",
    "partition": "the port is on a partition of its own",
    "slow": "bandwidth is `factor` times what the link carries, which says nothing of it",
    "latency": "every latency is `factor` times what it is",
    "hang": "RDMA tools that use the HCA never end",
    "port-in-use": "somebody listens on the ports of RDMA servers",
    "flapping": "the link goes down for a moment whenever it is used, and counts that",
    "no-peermem": "nvidia-peermem cannot be loaded",
    "no-libibverbs": "NCCL finds no libibverbs, and falls back to sockets",
    "no-provider": "the container's libibverbs has no provider for mlx5, and sees no device",
    "slow-ipoib": "IPoIB is `factor` times as fast as it is",
}
"""Every fault there is. `times`, for those of a tool: how often it happens before it is gone."""


class FaultsError(ValueError):
    """A faults file that says nothing that is known."""


def read(run_folder: "os.PathLike[str] | str") -> "list[dict[str, Any]]":
    """The faults of a run; none without the file. Raises FaultsError for what is not known."""
    path = os.path.join(run_folder, FILE)  # noqa: PTH118
    if not os.path.exists(path):  # noqa: PTH110
        return []
    import json  # noqa: PLC0415 most runs have no faults

    with open(path, encoding="utf-8") as file:  # noqa: PTH123
        try:
            found = json.load(file)
        except ValueError as error:
            raise FaultsError(f"{path}: {error}") from error
    return checked(found, path)


def checked(found: "Any", path: str) -> "list[dict[str, Any]]":
    """What a faults file holds. path: of the file, for the error. Raises FaultsError for what is not known."""
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise FaultsError(f"{path}: must be a list of mappings, such as {{fault: link-down, device: mlx5_ib3}}")
    for entry in found:
        if entry.get("fault") not in FAULTS:
            raise FaultsError(f"{path}: {entry.get('fault')!r} is no fault; there are {', '.join(FAULTS)}")
    return found


def concerning(
    faults: "list[dict[str, Any]]", name: str, node: str, device: "str | None" = None
) -> "dict[str, Any] | None":
    """The first fault of a name that concerns a node, and one of its devices where one is asked for."""
    entries = [entry for entry in faults if entry["fault"] == name]
    if not entries:
        return None
    from fnmatch import fnmatch  # noqa: PLC0415

    for entry in entries:
        of_device = device is None or fnmatch(device, entry.get("device") or "*")
        if fnmatch(node, entry.get("node") or "*") and of_device:
            return entry
    return None


def happens(run_folder: str, name: str, node: str, device: "str | None" = None) -> "dict[str, Any] | None":
    """Like concerning, counting: a fault with `times` is gone after so many."""
    entry = concerning(read(run_folder), name, node, device)
    if entry is None or "times" not in entry:
        return entry
    folder = os.path.join(run_folder, "machines", "faults")  # noqa: PTH118
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    for number in range(int(entry["times"])):
        try:
            os.close(os.open(f"{folder}/{name}-{node}-{device}-{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return entry
    return None
