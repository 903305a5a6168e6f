"""The stack file of a rehearsal: a person's own, plus settings that an air-gapped user has as well.

Nothing is written to the person's file. What a rehearsal changes is where charts come from and how often states are
polled (a simulated second is shorter than a real one); what it cannot know is the value of a secret.
"""

from pathlib import Path
from typing import Any, Final

import yaml

NAMESPACE: Final = "aks-infiniband"
CHARTS: Final = {"networkOperator": "network-operator", "gpuOperator": "gpu-operator"}
"""The settings that name a chart, and the chart's own name."""
POLLING: Final = {"pollSeconds": 0.25, "stableSeconds": 0.75}
"""Real seconds. A rehearsal's minutes pass in a second, so states are looked at that much more often."""
LIMITS: Final = {"readiness": (7200, 120), "validation": (3600, 60)}
"""What a wait may take: simulated seconds, and the least in real ones, because this machine has other work too."""
_ENGINE_KEYS: Final = ("encryptionsalt", "secretsprovider", "encryptedkey")


class StackFileError(Exception):
    """A stack file that cannot be rehearsed; the text says which, what was found and what to do."""


def available_stacks(project: Path) -> list[str]:
    """Names of the stacks that have a file in the project's folder."""
    return sorted(path.name.split(".", 2)[1] for path in project.glob("Pulumi.*.yaml"))


def read(project: Path, stack: str) -> dict[str, Any]:
    """The stack file's document. Raises StackFileError where there is none, or it is not a mapping."""
    path = project / f"Pulumi.{stack}.yaml"
    if not path.is_file():
        known = ", ".join(available_stacks(project)) or "none"
        raise StackFileError(f"stack {stack!r} has no file {path.name} here; there are: {known}")
    document = yaml.safe_load(path.read_text())
    if not isinstance(document, dict) or not isinstance(document.get("config", {}), dict):
        raise StackFileError(f"{path.name} must be a mapping with a mapping `config`")
    return document


def _without_secrets(value: Any) -> Any:
    """Encrypted values cannot be opened here, so each becomes a word that says so."""
    if isinstance(value, dict):
        if set(value) == {"secure"}:
            return "secret-not-known-to-a-rehearsal"
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def find_charts(folder: Path) -> dict[str, Path]:
    """The chart of each setting in a folder: a chart's own folder, or its newest archive.

    Raises StackFileError where one is missing.
    """
    return {setting: _find_chart(folder, name) for setting, name in CHARTS.items()}


def _find_chart(folder: Path, name: str) -> Path:
    if (folder / name / "Chart.yaml").is_file():
        return folder / name
    archives = sorted(folder.glob(f"{name}-*.tgz"), key=lambda path: path.stat().st_mtime)
    if not archives:
        raise StackFileError(
            f"CHARTS={folder} holds no chart {name}: put the folder {name}/ or {name}-VERSION.tgz there"
        )
    return archives[-1]


def rehearsed(document: dict[str, Any], *, charts: dict[str, Path], speed: float, salt: str) -> dict[str, Any]:
    """The document that the engine reads in a rehearsal.

    charts: the chart of each setting, as `find_charts` gives them.
    speed: simulated seconds in a real one.
    salt: the passphrase salt that the engine made for the rehearsal's stack.
    """
    plain = {key: value for key, value in document.items() if key not in _ENGINE_KEYS}
    config: dict[str, Any] = _without_secrets(plain.get("config", {}))
    for setting, path in charts.items():
        key = f"{NAMESPACE}:{setting}"
        config[key] = {**(config.get(key) or {}), "chart": {"name": str(path)}}
    for setting, (simulated, least) in LIMITS.items():
        given = config.get(f"{NAMESPACE}:{setting}") or {}
        limit = max(round(simulated / speed), least)
        config[f"{NAMESPACE}:{setting}"] = {**given, "timeoutSeconds": min(given.get("timeoutSeconds", limit), limit)}
    config[f"{NAMESPACE}:readiness"] |= POLLING
    return {**plain, "config": config, "encryptionsalt": salt}
