"""The stack file of a rehearsal: a person's own, plus settings that an air-gapped user has as well.

Nothing is written to the person's file. A rehearsal changes the source of charts, the cluster of an existing one, and
the interval at which states are polled, because a simulated second is shorter than a real one. The value of a secret is
unknown here, so every secret gets another value, and stays a secret.
"""

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.handwritten import opened as open_json
from aks_infiniband.handwritten import read as read_yaml

NAMESPACE: Final = "aks-infiniband"
CHARTS: Final = {"networkOperator": "network-operator", "gpuOperator": "gpu-operator"}
"""The settings that name a chart, and the chart's own name."""
FURTHER_CHARTS: Final = {
    "amdGpuOperator": "gpu-operator-charts",
    "certManager": "cert-manager",
    "draDriver": "dra-driver-nvidia-gpu",
}
"""Charts of pools with AMD's GPUs, and with NVLink between machines; a folder of charts may be without."""
POLLING: Final = {"pollSeconds": 0.25, "stableSeconds": 0.75}
"""Real seconds. A rehearsal's minutes pass in a second, so states are looked at that much more often."""
STAND_IN: Final = "secret-not-known-to-a-rehearsal"
_PREFLIGHT: Final = f"{NAMESPACE}:preflight"
"""The setting that calls Azure itself, which no rehearsal does."""
_OWN: Final = Path(__file__).parents[1] / "charts"
_ENGINE_KEYS: Final = ("encryptionsalt", "secretsprovider", "encryptedkey")


class StackFileError(Exception):
    """A stack file that cannot be rehearsed; the text names it, the finding and the remedy."""


def available_stacks(project: Path) -> list[str]:
    """Names of the stacks that have a file in the project's folder."""
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in project.glob("Pulumi.*.yaml"))


def read(project: Path, stack: str) -> dict[str, Any]:
    """The stack file's document, as the engine reads it: one mapping.

    The program checks the form of a setting, and its messages explain it. Raises StackFileError.
    """
    path = project / f"Pulumi.{stack}.yaml"
    if not path.is_file():
        known = ", ".join(available_stacks(project)) or "none"
        raise StackFileError(f"stack {stack!r} does not have a file {path.name} here; there are: {known}")
    try:
        document = read_yaml(path)
    except HandwrittenError as error:
        raise StackFileError(f"{path.name} {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("config", {}), dict):
        raise StackFileError(f"{path.name} must be a mapping with a mapping `config`")
    return document


def _without_secrets(value: Any) -> Any:
    """The document without encrypted values, which cannot be opened here. Each becomes a word that says so, until the
    engine has the secret.
    """
    if _is_secret(value):
        return STAND_IN
    if isinstance(value, dict):
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def _is_secret(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"secure"}


def secrets(document: Mapping[str, Any]) -> dict[str, str]:
    """A value for every secret of a stack file, by its path as `pulumi config set --path` takes it."""
    config = document.get("config", {})
    images = (section(config, "registry") or {}).get("images")
    known = {f"{NAMESPACE}:registryCredentials": _docker_config(str(images or "registry.example.com"))}
    return {path: known.get(path, STAND_IN) for key, value in config.items() for path in _secret_paths(key, value)}


def _secret_paths(path: str, value: Any) -> Iterator[str]:
    if _is_secret(value):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _secret_paths(f"{path}[{json.dumps(str(key))}]", item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _secret_paths(f"{path}[{index}]", item)


def _docker_config(registry: str) -> str:
    """Credentials as `docker login` writes them, for a user that does not exist."""
    user, password = "rehearsal", "no-password-of-anyone"
    auth = base64.b64encode(f"{user}:{password}".encode()).decode()
    login = {"username": user, "password": password, "auth": auth}
    return json.dumps({"auths": {registry.partition("/")[0]: login}})


def find_charts(folder: Path) -> dict[str, Path]:
    """The chart of each setting in a folder: a chart's own folder, or its newest archive. For further ones that are not
    there, the rehearsal's own.

    Raises StackFileError if one of NVIDIA's is missing.
    """
    charts = {setting: _find_chart(folder, name) for setting, name in {**CHARTS, **FURTHER_CHARTS}.items()}
    for setting, name in CHARTS.items():
        if charts[setting] is None:
            raise StackFileError(
                f"CHARTS={folder} holds no chart {name}: put the folder {name}/ or {name}-VERSION.tgz there"
            )
    return {setting: chart or _OWN / {**CHARTS, **FURTHER_CHARTS}[setting] for setting, chart in charts.items()}


def _find_chart(folder: Path, name: str) -> Path | None:
    if (folder / name / "Chart.yaml").is_file():
        return folder / name
    archives = sorted(folder.glob(f"{name}-[v0-9]*.tgz"), key=lambda path: path.stat().st_mtime)
    return archives[-1] if archives else None


def rehearsed(
    document: dict[str, Any],
    *,
    charts: dict[str, Path],
    limits: Mapping[str, int],
    salt: str,
    kubeconfig: Path,
    context: str,
) -> dict[str, Any]:
    """The document that the engine reads in a rehearsal.

    charts: the chart of each setting, as `find_charts` gives them; it has precedence over `registry`, too.
    limits: the most that `timeoutSeconds` of a setting may be, as `limits.limits_of` gives it.
    salt: the passphrase salt that the engine made for the rehearsal's stack.
    kubeconfig, context: of the rehearsal's cluster, in place of an existing one.
    """
    plain = {key: value for key, value in document.items() if key not in _ENGINE_KEYS}
    config: dict[str, Any] = _without_secrets(plain.get("config", {}))
    if config.get(_PREFLIGHT) in (True, "true"):  # another value the program refuses
        config[_PREFLIGHT] = False
    for setting, path in charts.items():
        if not (section(config, setting) or {}).get("existing"):  # another program has installed it
            put(config, setting, {"chart": {"name": str(path)}})
    for setting, limit in limits.items():
        seconds = (section(config, setting) or {}).get("timeoutSeconds", limit)
        if isinstance(seconds, int | float):  # else the program refuses it
            put(config, setting, {"timeoutSeconds": min(seconds, limit)})
    put(config, "readiness", POLLING)
    existing = section(config, "existingCluster")
    if f"{NAMESPACE}:existingCluster" in config and existing is not None:
        named = {"context": context} if existing.get("context") else {}
        put(config, "existingCluster", {"kubeconfig": str(kubeconfig), **named})
    return {**plain, "config": config, "encryptionsalt": salt}


class _Quoted(yaml.SafeDumper):
    """Writes all text in quotes: PyYAML would leave them out by the rules of YAML 1.1, and the engine reads YAML
    1.2.
    """


_Quoted.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def written(document: Any) -> str:
    """A document as the engine reads it."""
    return yaml.dump(document, Dumper=_Quoted, allow_unicode=True, sort_keys=False)


def section(config: Mapping[str, Any], setting: str) -> dict[str, Any] | None:
    """A section of the settings, empty if it is not given; None for a value that is not a mapping.

    A section may be JSON text: the engine hands every section to a program as such, so the program sees no
    difference.
    """
    value = opened(config.get(f"{NAMESPACE}:{setting}", {}))
    return value if isinstance(value, dict) else None


def opened(value: Any) -> Any:
    """A value, or what it holds as JSON text."""
    try:
        return open_json(value) if isinstance(value, str) else value
    except HandwrittenError:
        return value  # the program says why


def put(config: dict[str, Any], setting: str, changes: Mapping[str, Any]) -> None:
    """Change entries of a section."""
    value_before = section(config, setting)
    if value_before is not None:  # else the program refuses it
        config[f"{NAMESPACE}:{setting}"] = {**value_before, **changes}
