"""Writes what is generated of docs/ and of the contributors' pages: settings, symptoms, components, …: `make docs`."""

import json
from pathlib import Path
from typing import Final

from aks_infiniband.facts.words import for_pods

from pages.azure_resources import with_azure_resources
from pages.components import with_components
from pages.endings import with_table
from pages.observability import observability_page
from pages.reference import reference
from pages.rooms import PAGES, drawn
from pages.schema import stack_file_schema
from pages.symptoms import doctor_page

DOCS: Final = Path(__file__).parents[1] / "docs"


def documents() -> dict[str, str]:
    """The content of each file, by its name in docs."""
    schema = json.dumps(stack_file_schema(), indent=2, ensure_ascii=False)
    return {
        "settings.schema.json": f"{schema}\n",
        "settings.md": reference(),
        "doctor.md": doctor_page(),
        "observability.md": observability_page(),
        "rehearse-your-program.md": with_azure_resources((DOCS / "rehearse-your-program.md").read_text()),
        "languages.md": with_components((DOCS / "languages.md").read_text()),
        "judging.md": with_table((DOCS / "judging.md").read_text()),
    }


WORDS: Final = DOCS.parent / "components/aks_infiniband/validation/payload/programs/words.json"
"""The catalogue's part that pods read."""

if __name__ == "__main__":
    WORDS.write_text(for_pods())
    for name, content in documents().items():
        (DOCS / name).write_text(content)
    for page in PAGES:
        page.write_text(drawn(page))
