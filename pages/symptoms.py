"""The doctor's catalogue as Markdown, between two markers of its page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aks_infiniband_cli.doctor.catalogue import AREAS, Symptom, catalogue

PAGE: Final = Path(__file__).parents[1] / "docs" / "doctor.md"
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


def doctor_page() -> str:
    """The page, with the catalogue as it is."""
    above, rest = PAGE.read_text().split(_START)
    _, below = rest.split(_END)
    listed = "\n".join(_sections())
    return f"{above}{_START}\n{listed}\n{_END}{below}"


def _sections() -> Iterator[str]:
    symptoms = catalogue().values()
    yield f"{len(symptoms)} symptoms. `--output json` names the sources of each; they stand in"
    yield "`command_line/aks_infiniband_cli/doctor/symptoms`, with the day on which they were read."
    for area in AREAS:
        yield f"\n### {_TITLES[area]}\n"
        yield from (_entry(symptom) for symptom in symptoms if symptom.area == area)


def _entry(symptom: Symptom) -> str:
    told = (
        f"- **{symptom.id}**: {symptom.title}.<br>Shown by: {symptom.evidence}.<br>Cause: {symptom.cause}."
        f"<br>Fix: {symptom.fix}."
    )
    return told.replace("..", ".")
