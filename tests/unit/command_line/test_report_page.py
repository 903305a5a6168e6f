"""The report page: from reports to HTML and PNG, and from wherever the reports are."""

import json
import struct
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.report.document import SCHEMA_VERSION
from aks_infiniband.validation.payload.report.kept import packed_report
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband.validation.payload.say.expectations import Threshold
from aks_infiniband_cli.machine_by_machine.replace.case import Case, Line
from aks_infiniband_cli.main import main
from aks_infiniband_cli.report import sources
from aks_infiniband_cli.report.sources import from_state

from tests.unit.command_line.validations import kubeconfig_in

GIB = 1 << 30
NODES = ("aks-a", "aks-b")
BOUND = {"unit": "Gb/s", "better": "higher", "expected": 392.0, "warn": None, "fail": 380.0}
THRESHOLD = {**BOUND, "basis": "quoted", "source": "Azure's node health check"}
RING: Threshold = {
    "unit": "GB/s", "better": "higher", "fail": 300.0, "warn": 360.0, "basis": "quoted", "source": "a skill",
}  # fmt: skip


def run(tuning: str, bus: float) -> dict[str, Any]:
    sizes = [
        {"bytes": size, "seconds": 0.01, "algorithm_gb_per_s": bus / 2, "bus_gb_per_s": bus * share}
        for size, share in ((8, 0.001), (64 << 20, 0.7), (16 * GIB, 1.0))
    ]
    known = {"ranks": 16, "transport": "InfiniBand with GPUDirect RDMA", "library": "NCCL 2.28.9", "torch": "2.10"}
    return {"tuning": tuning, "sizes": sizes, "stopped": None, **known}


def rdma(value: float | None = 391.0) -> list[dict[str, Any]]:
    return [
        {
            "figure": "rdma-write-bandwidth",
            "node": node,
            "device": f"mlx5_{(number + NODES.index(node)) % 9}",
            "rail": f"010{number + 1}:00:00.0",
            "value": value if (node, number) == ("aks-b", 3) else 391.0,
            "neighbours": True,
        }
        for node in NODES
        for number in range(8)
    ]


def report(**changes: Any) -> dict[str, Any]:
    slow = make_check(
        "all-reduce",
        "fail",
        expected="at least 300 GB/s (16 GiB, ring)",
        measured=212.0,
        unit="GB/s",
        threshold=RING,
        tries=[{"value": 199.0, "error": None}, {"value": 212.0, "error": None}],
        cause="no topology file <ndv5>",
    )
    return {
        "schema_version": SCHEMA_VERSION,
        "pool": "ndh100",
        "vm_size": "Standard_ND96isr_H100_v5",
        "verdict": "fail",
        "finished": "2026-11-21T15:00:00+00:00",
        "coverage": {"summary": "2 of 2 nodes, 16 of 16 HCAs"},
        "nodes": {"aks-b": {}, "aks-a": {}},
        "checks": [make_check("shm", "pass", node="aks-a", expected=1, measured=1), slow],
        "thresholds": {"rdma-write-bandwidth": THRESHOLD},
        "rdma": rdma(),
        "collective": {
            "runs": [run("ring", 212.0), run("nccl", 230.0)],
            "line_gb_per_s": 400.0,
            "thresholds": {"infiniband": RING},
        },
        **changes,
    }


def state(*reports: Any) -> str:
    """The output of `pulumi stack export`."""
    kept = [{"type": "pulumi:index:Stash", "outputs": {"output": packed_report(item)}} for item in reports]
    others = [{"type": "aks-infiniband:index:Validation"}, {"type": "pulumi:index:Stash", "outputs": {"output": ""}}]
    return json.dumps({"version": 3, "deployment": {"resources": [*others, *kept]}})


class Links(HTMLParser):
    """Everything that a page would have to fetch, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe", "object"}:
            self.fetched.append(tag)
        for name, value in attrs:
            if name in {"src", "href", "xlink:href"} and not (value or "").startswith(("#", "data:")):
                self.fetched.append(str(value))

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "state.json").write_text(state(report()))
    assert main(["report", "--state", str(folder / "state.json"), "--out", str(folder / "page")]) == 1
    return folder / "page"


def test_the_page_needs_nothing_else_and_says_pool_verdict_coverage_causes_thresholds_and_tries(made: Path) -> None:
    """Words of the cluster cannot become markup, and a check that failed stands before one that passed."""
    page = Links((made / "report.html").read_text())
    words, found = page.words, [page.words.index("no topology file"), page.words.index("shm")]
    assert (page.fetched, found) == ([], sorted(found))
    for said in (
        "Standard_ND96isr_H100_v5",
        "2 of 2 nodes, 16 of 16 HCAs",
        "no topology file <ndv5>",
        "quoted: a skill",
        "212.0 GB/s (before: 199.0)",
        "InfiniBand with GPUDirect RDMA",
        "16 GiB",
        "2026-11-21T15:00:00+00:00",
        "A verdict is as old as its measurement",
        "Nodes: aks-a, aks-b.",
        "that were made: 2.",
    ):
        assert said in words


def test_a_verdict_is_told_with_its_age_and_coverage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = (datetime.now(UTC) - timedelta(days=3, hours=5)).isoformat(timespec="seconds")
    file = tmp_path / "state.json"
    file.write_text(state(report(verdict="not measured", finished=made, checks=[])))
    where = ["report", "--state", str(file), "--out", str(tmp_path)]
    assert main(where) == 3, "nothing fails, and nothing is known"
    said = f"pool ndh100: not measured on {made} (2 of 2 nodes, 16 of 16 HCAs), 3 days ago"
    assert said in capsys.readouterr().out.splitlines()
    main([*where, "--output", "json"])
    assert json.loads(capsys.readouterr().out)["measured_on"] == {"ndh100": made}


REPLACED = Case(
    id="1", node="aks-a", pool="ndh100", resource="/x", agent_pool="ndh100", begun="t", why="slow", new="aks-b",
    stage="over", outcome="replaced", lines=[Line(at="t", step="Deleted", what="<b>pool ndh100 keeps 15</b>")],
)  # fmt: skip


def test_without_a_state_the_cluster_is_that_of_the_environment_and_its_replaced_machines_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(kubeconfig_in(tmp_path)))
    asked: list[str] = []

    def read(kubeconfig: str, *, namespace: str) -> Any:
        asked.append(kubeconfig)
        return {"ndh100": report(verdict="pass")}

    monkeypatch.setattr(sources, "from_cluster", read)
    since = {"pool": "ndh100", "node": "aks-c", "verdict": "pass", "what": "<i>sound</i>", "decided": "let in"}
    monkeypatch.setattr(sources, "replaced_in", lambda _, **__: [REPLACED])
    monkeypatch.setattr(sources, "machines_in", lambda _, **__: [since])
    assert main(["report", "--out", str(tmp_path)]) == 0
    assert "https://x" in asked[0]
    said = capsys.readouterr().out
    assert "aks-a of pool ndh100: replaced by aks-b" in said
    assert "  since then: aks-c: <i>sound</i>; let in" in said
    page = (tmp_path / "report.html").read_text()
    assert "<td>Deleted</td><td>&lt;b&gt;pool ndh100 keeps 15&lt;/b&gt;</td>" in page, "and as text"
    assert "<td>aks-c</td><td>&lt;i&gt;sound&lt;/i&gt;</td>" in page


def test_every_plot_is_a_png_of_its_own_too(made: Path) -> None:
    names = sorted(path.name for path in made.glob("*.png"))
    assert names == ["ndh100-all-reduce.png", "ndh100-rdma-write-bandwidth.png"]
    for name in names:
        data = (made / name).read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack("!II", data[16:24])
        assert min(width, height) > 300


def test_the_same_reports_make_the_same_page(made: Path, tmp_path: Path) -> None:
    main(["report", "--state", str(made.parent / "state.json"), "--out", str(tmp_path / "again")])
    assert (tmp_path / "again" / "report.html").read_bytes() == (made / "report.html").read_bytes()


def test_a_state_is_read_as_the_engine_exports_it_and_as_it_lies_in_a_folder() -> None:
    exported = state(report())
    kept = json.dumps({"version": 3, "checkpoint": {"latest": json.loads(exported)["deployment"]}})
    assert from_state(kept) == from_state(exported) != {}
