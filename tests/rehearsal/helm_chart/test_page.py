"""The page "The checks alone, as a chart", executed as it was written, by real Helm, in a cluster of Azure's guide."""

import json
import shlex
import time
from pathlib import Path
from typing import Any, Final

import pytest
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation.reports import report_in
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Namespace

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.existing import by_hand
from tests.rehearsal.existing.without_a_stack import command, everything, validate
from tests.rehearsal.shell import shell
from tests.rehearsal.stacks.conftest import Stack
from tests.rehearsal.waiting import eventually
from tests.snippets import DOCS, snippets

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

PAGE: Final = "chart.md"
MEASURE, REPORT, WATCH, CHECK, AGAIN, REMOVE = range(6)
"""The blocks of the page."""


class Chart:
    """The chart in a cluster."""

    def __init__(self, stack: Stack, helm: Path, archive: Path, folder: Path) -> None:
        self.stack, self._folder = stack, folder
        self._before = f"PATH={shlex.quote(str(helm.parent))}:$PATH\nCHART={shlex.quote(str(archive))}\n"

    def run(self, script: str, *, seconds: float = 400) -> str:
        """The output of a script of the page, which must succeed."""
        return shell(self.stack.rehearsal, self._before + script, folder=self._folder, seconds=seconds)

    def jobs(self) -> dict[str, str]:
        """The validation's Jobs: name and UID."""
        labels: dict[str, Any] = {"app.kubernetes.io/name": "validation"}
        found = self.stack.cluster().list(Job, namespace=SYSTEM_NAMESPACE, labels=labels)
        return {job["name"]: job["uid"] for job in (each.to_dict()["metadata"] for each in found)}

    def report(self) -> dict[str, Any]:
        """The pool's report."""
        name = "ndh100-validation-report"
        found = report_in(self.stack.cluster().get(ConfigMap, name, namespace=SYSTEM_NAMESPACE).to_dict())
        assert found
        return dict(found)


@pytest.fixture(scope="module")
def chart(rehearse_ours: RehearseOurs, helm: Path, archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Chart:
    """A cluster that others made, with two machines, and nothing of this project."""
    stack = rehearse_ours("existing")
    by_hand.make(stack, tmp_path_factory.mktemp("by-hand"))
    return Chart(stack, helm, archive, tmp_path_factory.mktemp("chart"))


def test_the_page_from_install_to_uninstall(chart: Chart) -> None:
    stack, blocks = chart.stack, snippets(PAGE, "sh")
    before, pods = everything(stack), by_hand.pods(stack)
    begun = time.monotonic()
    chart.run(blocks[MEASURE])
    print(f"helm install, to the verdict: {time.monotonic() - begun:.0f} s")
    (installed,) = chart.jobs().items()
    report = chart.report()
    kinds = {check["check"] for check in report["checks"]}
    assert (report["verdict"], report["mode"], len(report["nodes"])) == ("pass", "enforce", 2)
    assert {"rdma-write-bandwidth", "all-reduce", "gpu-count", "hca-rate"} <= kinds, kinds
    said = chart.run(blocks[REPORT])
    page = (DOCS / PAGE).read_text(encoding="utf-8")
    assert "```text\npool ndh100: pass\n```" in page
    assert "pool ndh100: pass" in said, said
    (pool,) = validate(stack, code=0)["pools"].values()
    assert (pool["verdict"], pool["without_stack"]) == ("pass", None)

    chart.run(blocks[WATCH])
    assert dict([installed]).items() <= chart.jobs().items(), "nothing is measured again"
    assert chart.report()["finished"] == report["finished"]
    chart.run(blocks[CHECK])
    chart.run(blocks[AGAIN])
    (again,) = chart.jobs()
    assert again != installed[0]
    assert chart.report()["verdict"] == "pass"
    assert chart.report()["finished"] > report["finished"]
    assert by_hand.pods(stack).items() >= pods.items(), "no pod of theirs is gone or another"

    chart.run(blocks[REMOVE])
    left = everything(stack) - before
    assert {line for line in left if not line.endswith("condition InfiniBandHealthy")} == set()
    assert before - everything(stack) == set()
    assert by_hand.pods(stack).items() >= pods.items()


def test_a_bad_machine_fails_the_installation_and_is_named(chart: Chart) -> None:
    install = snippets(PAGE, "sh")[MEASURE]
    with chart.stack.broken("half-rate", node="ndh100-1", device="mlx5_5"):
        said = chart.run(f"if (\n{install}\n) 2>said; then exit 1; fi; cat said")
    assert "Job" in said, said
    report = chart.report()
    bad = {(check["node"], check["device"]) for check in report["checks"] if check["verdict"] == "fail"}
    assert report["verdict"] == "fail"
    assert ("ndh100-1", "mlx5_5") in bad, bad
    command(chart.stack, "report", "--out", str(chart.stack.rehearsal.run.root / "report"), code=1)
    chart.run(snippets(PAGE, "sh")[REMOVE])
    eventually(lambda: SYSTEM_NAMESPACE not in _namespaces(chart.stack), seconds=60)


def _namespaces(stack: Stack) -> set[str]:
    return {str(found.to_dict()["metadata"]["name"]) for found in stack.cluster().list(Namespace)}


def test_what_a_stack_has_made_is_not_taken_over(chart: Chart) -> None:
    theirs = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "validation"}}
    install = snippets(PAGE, "sh")[MEASURE]
    said = chart.run(
        f"kubectl create namespace {SYSTEM_NAMESPACE}\n"
        f"kubectl --namespace {SYSTEM_NAMESPACE} create --filename - <<'END'\n{json.dumps(theirs)}\nEND\n"
        f"if (\n{install}\n) 2>said; then exit 1; fi; cat said"
    )
    assert 'ServiceAccount "validation"' in said, said
    assert chart.jobs() == {}
    chart.stack.cluster().delete(Namespace, SYSTEM_NAMESPACE)
