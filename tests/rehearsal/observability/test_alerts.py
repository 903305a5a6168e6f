"""The alerts pass Prometheus' own tests, and Prometheus reads every query of the dashboard."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from aks_infiniband.observability.dashboard import dashboard

HERE = Path(__file__).parent
ALERTS = HERE.parents[2] / "components/aks_infiniband/observability/alerts.yaml"

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def run(promtool: Path, *arguments: str | Path) -> None:
    ended = subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_alerts_fire_when_they_should_and_no_other_does(promtool: Path) -> None:
    run(promtool, "check", "rules", "--lint=all", "--lint-fatal", ALERTS)
    run(promtool, "test", "rules", HERE / "alerts.yaml")


def test_a_rule_that_never_fires_is_found(promtool: Path, tmp_path: Path) -> None:
    """Proof that the tests can fail: a port that is up instead of down."""
    wrong = ALERTS.read_text(encoding="utf-8").replace("} != 4", "} == 5")
    (tmp_path / "rules.yaml").write_text(wrong, encoding="utf-8")
    tests = yaml.safe_load((HERE / "alerts.yaml").read_text(encoding="utf-8")) | {"rule_files": ["rules.yaml"]}
    (tmp_path / "tests.yaml").write_text(yaml.safe_dump(tests), encoding="utf-8")
    ended = subprocess.run([promtool, "test", "rules", tmp_path / "tests.yaml"], capture_output=True, check=False)
    assert ended.returncode != 0
    assert b"InfinibandLinkDown" in ended.stdout + ended.stderr


def test_prometheus_reads_every_query_of_the_dashboard(promtool: Path, tmp_path: Path) -> None:
    panels = json.loads(dashboard())["panels"]
    queries = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert len(queries) > 20
    rules = [
        {"record": f"query:{number}", "expr": query.replace("$__rate_interval", "5m").replace("$", "")}
        for number, query in enumerate(queries)
    ]
    file = tmp_path / "queries.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}), encoding="utf-8")
    run(promtool, "check", "rules", "--lint=none", file)
