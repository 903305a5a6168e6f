"""Writes what is generated of docs/ and of the contributors' pages: settings, symptoms, components, …: `make docs`.

With --check it writes nothing, names the pages that are not as it would write them, and ends with 1: `make check`.
"""

import json
import sys
from pathlib import Path
from typing import Final

from aks_infiniband.facts.words import for_pods

from pages.assistants import llms_txt, skill
from pages.azure_resources import with_azure_resources
from pages.commands import command_line_page
from pages.components import with_components
from pages.endings import with_table
from pages.faults import with_faults
from pages.observability import observability_page
from pages.reference import reference
from pages.rooms import PAGES, drawn
from pages.schema import stack_file_schema
from pages.symptoms import doctor_page, symptom_pages

DOCS: Final = Path(__file__).parents[1] / "docs"


def documents() -> dict[str, str]:
    """The content of each file, by its name in docs."""
    schema = json.dumps(stack_file_schema(), indent=2, ensure_ascii=False)
    return {
        "settings.schema.json": f"{schema}\n",
        "settings.md": reference(),
        "doctor.md": doctor_page(),
        **symptom_pages(),
        "command-line.md": command_line_page(),
        "observability.md": observability_page(),
        "rehearse-your-program.md": with_azure_resources((DOCS / "rehearse-your-program.md").read_text()),
        "languages.md": with_components((DOCS / "languages.md").read_text()),
        "judging.md": with_table((DOCS / "judging.md").read_text()),
        "rehearsal.md": with_faults((DOCS / "rehearsal.md").read_text()),
        "skill/SKILL.md": skill(),
    }


WORDS: Final = DOCS.parent / "components/aks_infiniband/validation/payload/programs/words.json"
"""The catalogue's part that pods read."""


def main() -> None:
    """Write them, or check them."""
    pages = {
        WORDS: for_pods(),
        DOCS.parent / "llms.txt": llms_txt(),
        **{DOCS / name: content for name, content in documents().items()},
        **{page: drawn(page) for page in PAGES},
    }
    other = {
        page: content
        for page, content in pages.items()
        if not page.exists() or page.read_text(encoding="utf-8") != content
    }
    if "--check" in sys.argv[1:]:
        sys.exit("\n".join(f"{page.relative_to(DOCS.parent)} is not as `make docs` writes it" for page in other) or 0)
    for page, content in other.items():
        page.parent.mkdir(exist_ok=True)
        page.write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
