"""The faults of a simulated machine, and those faults of a run that concern a machine or one of its devices.

The faults of a run are a list in `faults/faults.json` of the run folder, read whenever a program of a machine looks.
`make rehearse FAULTS=file` writes it; a person or a test may also write it by hand while the rehearsal runs.
"""

import os

from rehearsal.faults.checking import FaultsError, checked
from rehearsal.faults.kinds import CURES, FAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Sequence
    from typing import Any, Final

RUN_FOLDER_VARIABLE: "Final" = "AKS_INFINIBAND_REHEARSAL"
FILE: "Final" = "faults/faults.json"
"""The file is in a separate folder, because programs of pods may read it, but not the run folder."""


def read(run_folder: "os.PathLike[str] | str") -> "list[dict[str, Any]]":
    """The faults of a run; none without the file. Raises FaultsError for a file that is not as it must be."""
    path = os.path.join(run_folder, FILE)  # noqa: PTH118
    if not os.path.exists(path):  # noqa: PTH110
        return []
    import json  # noqa: PLC0415 most runs have no faults

    try:
        with open(path, encoding="utf-8") as file:  # noqa: PTH123
            faults = json.load(file)
    except RecursionError:
        raise FaultsError(f"{path}: is nested too deep") from None
    except (OSError, ValueError) as error:
        raise FaultsError(f"{path}: {error}") from error
    return checked(faults, path)


def write(run_folder: "os.PathLike[str] | str", faults: "Sequence[dict[str, Any]]") -> None:
    """Replace all faults by these, from now on. The faults are not checked."""
    import json  # noqa: PLC0415

    path = os.path.join(run_folder, FILE)  # noqa: PTH118
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
    with open(f"{path}.draft", "w", encoding="utf-8") as file:  # noqa: PTH123
        json.dump(list(faults), file)
    os.replace(f"{path}.draft", path)  # noqa: PTH105


def cure(run_folder: "os.PathLike[str] | str", node: str, action: str) -> "list[dict[str, Any]]":
    """Take from a node the faults that a restart or a redeployment cures; returns them."""
    faults = read(run_folder)
    cured = [
        entry
        for entry in faults
        if "curedBy" in entry
        and CURES.index(entry["curedBy"]) <= CURES.index(action)
        and concerning([entry], entry["fault"], node) is not None
    ]
    for entry in cured:
        entry["cured"] = [*entry.get("cured", ()), node]
    if cured:
        write(run_folder, faults)
    return cured


def concerning(
    faults: "list[dict[str, Any]]", name: str, node: str, device: "str | None" = None, pod: "str | None" = None
) -> "dict[str, Any] | None":
    """The first fault of a name that concerns a node, and the device or pod if one is given.

    Raises KeyError for a name that is not in `FAULTS`.
    """
    kind = FAULTS[name]
    entries = [entry for entry in faults if entry["fault"] == kind.name]
    if not entries:
        return None
    from fnmatch import fnmatch  # noqa: PLC0415

    for entry in entries:
        about = (("node", node), ("device", device), ("pod", pod))
        if node not in entry.get("cured", ()) and all(
            part is None or fnmatch(part, entry.get(key) or "*") for key, part in about
        ):
            return entry
    return None


def happens(run_folder: str, name: str, node: str, device: "str | None" = None) -> "dict[str, Any] | None":
    """Like `concerning`, but it counts: a fault with `times` is gone after that many."""
    entry = concerning(read(run_folder), name, node, device)
    if entry is None or "times" not in entry:
        return entry
    folder = os.path.join(run_folder, "machines", "faults")  # noqa: PTH118
    os.makedirs(folder, exist_ok=True)  # noqa: PTH103
    for number in range(entry["times"]):
        try:
            os.close(os.open(f"{folder}/{name}-{node}-{device}-{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return entry
    return None
