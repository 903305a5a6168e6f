"""How Sphinx makes one site of the pages: `make site`. It needs no network, and every warning is an error.

The pages are those that are read in the repository, so nothing is written for the site alone but the pages' order.
"""

import shutil
from pathlib import Path
from typing import Final

from sphinx.application import Sphinx

NAVIGATION: Final = {
    "Begin": ["docs/tutorial", "docs/how-it-works", "docs/README"],
    "Deploy a cluster": [
        "docs/init",
        "docs/existing-cluster",
        "docs/chart",
        "docs/environments",
        "docs/preflight",
        "docs/workloads",
        "docs/dra",
        "docs/gb300",
        "docs/mi300x",
        "docs/roce",
        "docs/storage",
        "docs/scheduling",
        "examples/jobs/README",
        "docs/report",
        "docs/teardown",
    ],
    "Keep it good": [
        "docs/doctor",
        "docs/validate",
        "docs/assistants",
        "docs/light-check",
        "docs/observability",
        "docs/evidence",
        "docs/replace",
        "docs/node-repair",
        "docs/rollout",
        "docs/upgrade",
    ],
    "Use it in your own program": [
        "docs/afternoon",
        "docs/library",
        "docs/languages",
        "docs/rehearse-your-program",
        "examples/own-aks/README",
        "examples/any-cluster/README",
        "examples/terraform/README",
        "examples/plain-aks/README",
        "docs/releases",
    ],
    "Look up": [
        "docs/settings",
        "docs/command-line",
        "docs/trust",
        "docs/facts",
        "docs/support",
        "CHANGELOG",
        "SECURITY",
    ],
    "How it works, and why": [
        "docs/rehearsal",
        "docs/validation",
        "docs/judging",
        "docs/real-tools",
        "docs/measurements",
        "docs/features",
        "docs/field-reports",
    ],
    "Change this project": [
        "CONTRIBUTING",
        "STYLE",
        "components/README",
        "command_line/README",
        "rehearsal/README",
        "rehearsal/CONTRIBUTING",
        "tests/recordings/README",
        "tests/field_recordings/README",
        "tests/conformance/README",
        "tests/releases/README",
        "tests/rehearsal/upgrade/README",
        "tests/unit/validation/transcripts/README",
    ],
}
"""Every page of the site under what somebody wants. A page that is missing here, or is not there, is a warning."""

project = "aks-infiniband"
extensions = ["myst_parser", "sphinxcontrib.mermaid"]
root_doc = "README"
include_patterns = [
    "*.md",
    "docs/*.md",
    "examples/*/README.md",
    *(f"{name}.md" for pages in NAVIGATION.values() for name in pages if not name.startswith("docs/")),
]
exclude_patterns = [".*", "build", "dist"]
myst_heading_anchors = 5
# The drawings are made in the reader's browser, which fetches mermaid for them.
myst_fence_as_directive = ["mermaid"]
html_theme = "furo"
html_title = "aks-infiniband"
html_copy_source = False


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _navigate)
    app.connect("build-finished", _index)


def _navigate(_app: Sphinx, name: str, source: list[str]) -> None:
    """Give the first page the tables of contents, which a reader of the repository would see as text."""
    if name == root_doc:
        tables = (
            "\n".join(["", "```{toctree}", ":hidden:", f":caption: {caption}", "", *pages, "```", ""])
            for caption, pages in NAVIGATION.items()
        )
        source[0] += "".join(tables)


def _index(app: Sphinx, error: Exception | None) -> None:
    """Have the first page under the name that web servers look for, and llms.txt with the links of the site."""
    if error is None:
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))
        index = Path(app.srcdir, "llms.txt").read_text(encoding="utf-8")
        Path(app.outdir, "llms.txt").write_text(index.replace(".md)", ".html)"), encoding="utf-8")
