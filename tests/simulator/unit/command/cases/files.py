"""The kinds of cases on files that a person writes: faults, a stack file, a Pulumi.yaml."""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES

from rehearsal.control_plane import RunFolder
from rehearsal.engine.project_file import ProjectFileError
from rehearsal.faults.checking import FaultsError
from rehearsal.faults.file import read_file
from rehearsal.session import Rehearsal
from rehearsal.stack import operator_charts, stack_file
from rehearsal.stack.limits import limits_of
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS, chosen
from tests.cases import Case, changes, refusing

_CHARTS: Final = {"networkOperator": Path("/charts/network-operator"), "gpuOperator": Path("/charts/gpu-operator")}


def settings(case: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a case with their namespace, if they have none."""
    return {name if ":" in name else f"aks-infiniband:{name}": value for name, value in case.items()}


def copy_of(document: dict[str, Any]) -> dict[str, Any]:
    """The stack file that a rehearsal writes."""
    cluster: dict[str, Any] = {"kubeconfig": Path("/run/kubeconfig"), "context": "rehearsal"}
    limits = {"readiness": 120, "validation": 240}
    return stack_file.rehearsed(document, charts=_CHARTS, limits=limits, salt="ours", **cluster)


def rehearsed(case: Case) -> Any:
    """The copy's difference from that of an empty stack file, which is whole, and the values of its secrets."""
    document = {**case.get("top", {}), "config": settings(case["config"])}
    usual = copy_of({"config": {}}) if case["config"] else {}
    outcome = {"copy": changes(usual, copy_of(document)), "secrets": stack_file.secrets(document)}
    return {name: value for name, value in outcome.items() if value}


def in_folder(name: str, read: Callable[[Path], Any]) -> Callable[[Case], Any]:
    """The reading of a folder with a file of this name; `text` is null if the file is missing."""

    def outcome(case: Case) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            if case["text"] is not None:
                Path(folder, name).write_text(case["text"])
            errors = (FaultsError, stack_file.StackFileError, ProjectFileError)
            answer = refusing(lambda _: read(Path(folder)), *errors)(case)
        if isinstance(answer, dict) and "refused" in answer:
            return {"refused": answer["refused"].replace(f"{folder}/", "")}
        return answer

    return outcome


def check_project(folder: Path) -> None:
    """Check the files of a project as a rehearsal does before it starts."""
    Rehearsal(project=folder, stack="dev", run=RunFolder.at(folder / "run")).check_files()


def limits(case: Case) -> Any:
    """The limits of a stack's waits, in seconds. `pools` has counts by size."""
    counts = [count for pool in case["pools"] for count in pool.items()]
    pools = [{"name": "a", "vmSize": f"Standard_{size}", "count": count} for size, count in counts]
    known = {**SIZES, "Standard_Mine": SIZES["Standard_ND96isr_H100_v5"]} if case.get("describes") else SIZES
    return limits_of({"aks-infiniband:pools": pools}, sizes=known, speed=case.get("speed", 60))


def charts(case: Case) -> Any:
    """The words on charts that a folder with one version of each lacks, and the stand-ins that are chosen."""
    config = settings(case["config"])
    lacking = operator_charts.not_taken(config, stack_file.find_charts(STAND_IN_CHARTS))
    return {"lacking": lacking, "chosen": refusing(lambda _: chosen(config), stack_file.StackFileError)(case)}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "rehearsed": rehearsed,
    "faults": in_folder("faults.yaml", lambda folder: read_file(folder / "faults.yaml")),
    "stack": in_folder("Pulumi.dev.yaml", lambda folder: stack_file.read(folder, "dev")),
    "project": in_folder("Pulumi.yaml", check_project),
    "limits": limits,
    "charts": charts,
}
"""By the first word of a file's name, what gives the outcome of a case."""
