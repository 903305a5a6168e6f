"""Writes anew what is generated of docs/: settings, doctor's catalogue, alerts, who is named by what: `make docs`."""

import json
from pathlib import Path
from typing import Final

from tests.documents.azure_resources import with_azure_resources
from tests.documents.endings import with_table
from tests.documents.observability import observability_page
from tests.documents.reference import reference
from tests.documents.schema import stack_file_schema
from tests.documents.symptoms import doctor_page

DOCS: Final = Path(__file__).parents[2] / "docs"


def documents() -> dict[str, str]:
    """The content of each file, by its name in docs."""
    schema = json.dumps(stack_file_schema(), indent=2, ensure_ascii=False)
    return {
        "settings.schema.json": f"{schema}\n",
        "settings.md": reference(),
        "doctor.md": doctor_page(),
        "observability.md": observability_page(),
        "rehearse-your-program.md": with_azure_resources((DOCS / "rehearse-your-program.md").read_text()),
        "validation.md": with_table((DOCS / "validation.md").read_text()),
    }


if __name__ == "__main__":
    for name, content in documents().items():
        (DOCS / name).write_text(content)
