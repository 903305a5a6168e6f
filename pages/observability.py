"""The alerts and the metrics as tables, between two markers of their page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from aks_infiniband.facts.tables import table
from aks_infiniband.observability.documents import rules

PAGE: Final = Path(__file__).parents[1] / "docs" / "observability.md"
_START: Final = "<!-- tables, written by make docs -->"
_END: Final = "<!-- end of tables -->"


def observability_page() -> str:
    """The page, with alerts and metrics as they are."""
    above, rest = PAGE.read_text().split(_START)
    _, below = rest.split(_END)
    return "\n".join([f"{above}{_START}", *_alerts(), *_metrics(), f"{_END}{below}"])


def _alerts() -> Iterator[str]:
    yield "## Alerts\n\n| alert | severity | after | fires where | what to do |\n|---|---|---|---|---|"
    for rule in (rule for group in rules()["groups"] for rule in group["rules"]):
        summary, runbook = (_placeholders(rule["annotations"][key]) for key in ("summary", "runbook"))
        after = rule.get("for", "at once")
        yield f"| `{rule['alert']}` | {rule['labels']['severity']} | {after} | {summary} | {runbook} |"


def _placeholders(text: str) -> str:
    return text.replace("{{ $labels.", "‹").replace("{{ $value }}", "‹number›").replace(" }}", "›")


def _metrics() -> Iterator[str]:
    metrics = table("aks_infiniband.observability", "metrics.yaml")
    yield "\n## Metrics\n\n| metric | labels | what it is | from |\n|---|---|---|---|"
    for name, metric in metrics["metrics"].items():
        yield f"| `{name}` | {', '.join(metric['labels'])} | {metric['what']} | {metric['source']} |"
    yield ""
    for name, source in metrics["sources"].items():
        yield f"- {name}: {source}"
