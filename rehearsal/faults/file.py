"""The faults file that a person writes: read, and all of its mistakes told at once."""

from pathlib import Path
from typing import Any

from aks_infiniband.handwritten import HandwrittenError, first_lines, read

from rehearsal.faults.checking import FaultsError, checked


def read_file(path: Path) -> list[dict[str, Any]]:
    """The entries of a file in YAML. Raises FaultsError for a file that cannot be read, or has mistakes."""
    try:
        return checked(read(path), str(path))
    except HandwrittenError as error:
        raise FaultsError(f"{path}: {error}") from error
    except FaultsError as error:
        raise FaultsError(first_lines(str(error))) from error
