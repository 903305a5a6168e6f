"""The faults file that a person writes: read, and all of its mistakes told at once."""

from pathlib import Path
from typing import Any

import yaml

from rehearsal.faults.checking import FaultsError, checked


def read_file(path: Path) -> list[dict[str, Any]]:
    """The entries of a file in YAML. Raises FaultsError for a file that cannot be read, or has mistakes."""
    try:
        return checked(yaml.safe_load(path.read_text(encoding="utf-8")), str(path))
    except FaultsError:
        raise
    except OSError as error:
        raise FaultsError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise FaultsError(f"{path}: is not text in UTF-8") from error
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise FaultsError(f"{path}: is not YAML: {error.problem}{where}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise FaultsError(f"{path}: is not YAML: {' '.join(str(error).split())}") from error
