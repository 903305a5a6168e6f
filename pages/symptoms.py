"""The doctor's catalogue as Markdown: a page for each family of symptoms, and the families in docs/doctor.md."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aks_infiniband_cli.doctor.catalogue import AREAS, Symptom, catalogue

_PAGE: Final = Path(__file__).parents[1] / "docs" / "doctor.md"
_START: Final = "<!-- catalogue, written by make docs -->"
_END: Final = "<!-- end of catalogue -->"
_TITLES: Final = {
    "nodes": "Nodes",
    "controllers": "Operators and their controllers",
    "ofed": "The OFED driver and the policies",
    "device_plugins": "RDMA device plugins",
    "gpus": "GPUs and GPUDirect RDMA",
    "workloads": "Pods",
    "networks": "Secondary networks",
    "lifecycle": "Releases, leftovers and versions",
}
_OF_PAGE: Final = re.compile(r"\bdocs/([a-z-]+\.md)")


def doctor_page() -> str:
    """The page of the doctor, with the families as they are."""
    above, rest = _PAGE.read_text(encoding="utf-8").split(_START)
    _, below = rest.split(_END)
    rows = "".join(
        f"| [{_TITLES[area]}](symptoms/{area}.md) | {', '.join(f'`{each.id}`' for each in symptoms)} |\n"
        for area, symptoms in _families()
    )
    return f"{above}{_START}\n| family | symptoms |\n|---|---|\n{rows}{_END}{below}"


def symptom_pages() -> dict[str, str]:
    """A page for each family, by its name in docs."""
    return {
        f"symptoms/{area}.md": f"# Symptoms: {_TITLES[area]}\n\nWhat [the doctor](../doctor.md) finds. "
        f"Written by `make docs` from `doctor/symptoms/{area}.yaml`.\n\n" + "\n".join(map(_entry, symptoms))
        for area, symptoms in _families()
    }


def _families() -> Iterator[tuple[str, list[Symptom]]]:
    for area in AREAS:
        yield area, [each for each in catalogue().values() if each.area == area]


def _entry(symptom: Symptom) -> str:
    lines = [
        f"## {symptom.title}",
        "",
        f"`{symptom.id}`",
        "",
        f"- **Shown by:** {symptom.evidence}.",
        f"- **Cause:** {symptom.cause}.",
        f"- **Fix:** {symptom.fix}.",
        "",
    ]
    return _OF_PAGE.sub(r"[\1](../\1)", "\n".join(lines).replace("..\n", ".\n"))
