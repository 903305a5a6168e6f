"""Writes what is generated from the settings' models: `python -m aks_infiniband.stack.settings FOLDER`."""

import json
import sys
from pathlib import Path
from typing import Final

from aks_infiniband.stack.settings.reference import reference
from aks_infiniband.stack.settings.schema import stack_file_schema

SCHEMA: Final = "settings.schema.json"
REFERENCE: Final = "settings.md"


def documents() -> dict[str, str]:
    """The content of each file, by its name."""
    schema = json.dumps(stack_file_schema(), indent=2, ensure_ascii=False)
    return {SCHEMA: f"{schema}\n", REFERENCE: reference()}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for name, content in documents().items():
        (folder / name).write_text(content)
