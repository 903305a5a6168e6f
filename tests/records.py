"""The project's records, docs/records: facts of the world, features with their proofs, reports from the field."""

from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

_FOLDER: Final = Path(__file__).parents[1] / "docs" / "records"


@cache
def record(name: str) -> dict[str, Any]:
    """The sections of a record. name: of its file, without the suffix."""
    sections: dict[str, Any] = yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    return sections
