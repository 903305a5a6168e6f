"""The faults file that a person writes: read, and all of its mistakes told at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aks_infiniband.handwritten import HandwrittenError, first_lines, read

from rehearsal.faults.checking import FaultsError, checked
from rehearsal.faults.machine_faults import FILE
from rehearsal.faults.machine_faults import read as read_run


def read_file(path: Path) -> list[dict[str, Any]]:
    """The entries of a file in YAML; none of an empty one. Raises FaultsError for a file that cannot be read, or has
    mistakes.
    """
    try:
        faults = read(path)
        return checked([] if faults is None else faults, str(path))
    except HandwrittenError as error:
        raise FaultsError(f"{path}: {error}") from error
    except FaultsError as error:
        raise FaultsError(first_lines(str(error))) from error


def holding(run_folder: Path) -> tuple[str, float]:
    """The faults that hold in a run, in words, and since when, in seconds since 1970; empty and 0 without any."""
    run = read_run(run_folder)
    return ("; ".join(map(_told, run)), (run_folder / FILE).stat().st_mtime) if run else ("", 0)


def _told(entry: Mapping[str, Any]) -> str:
    where = ", ".join(f"{key} {value}" for key, value in entry.items() if key != "fault")
    return f"{entry['fault']} ({where})" if where else str(entry["fault"])
