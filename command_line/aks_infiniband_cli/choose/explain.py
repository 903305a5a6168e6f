"""The decision that a stack file has taken already."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.stack.settings.mistakes import LOCATION, SettingsError

from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import TRANSPORTS, Decision, reasons_for, too_few
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.stack_file import configuration_of, stack_of

_EXISTING: Final = "aks-infiniband:existingCluster"
_OPERATORS: Final = ("aks-infiniband:networkOperator", "aks-infiniband:gpuOperator")
_OF_NOBODY: Final = {
    "clusters": [{"name": "c", "cluster": {"server": "https://localhost"}}],
    "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
    "users": [{"name": "u", "user": {"token": "t"}}],
    "current-context": "c",
}


def explain(path: Path) -> tuple[dict[str, Decision], str]:
    """The decision of each pool with InfiniBand, by the pool's name, and the region of the price.

    Raises CommandError for a file that the program would refuse.
    """
    configuration = configuration_of(path)
    try:
        with _without_login(configuration) as without:
            stack = stack_of(path, {**without, **dict(_without_values(without))})
    except SettingsError as error:
        raise CommandError(f"{path}: {error}") from error
    region = str(configuration.get(LOCATION, Answers.region))
    return {pool.name: _decision(pool) for pool in stack.pools}, region


def _without_values(configuration: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Operators without the values that all stacks of a project share: no decision follows from them, and the project
    may be on another machine.
    """
    for key in _OPERATORS:
        given = configuration.get(key) or {}
        yield key, {"valuesFile": None, **given} if isinstance(given, Mapping) else given


@contextmanager
def _without_login(configuration: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """With a kubeconfig of an imaginary cluster: no decision follows from it, and the stack's may be on another
    machine.
    """
    existing = configuration.get(_EXISTING)
    if not isinstance(existing, Mapping) or "kubeconfig" not in existing:
        yield configuration
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / "kubeconfig"
        file.write_text(json.dumps(_OF_NOBODY), encoding="utf-8")
        others = {key: value for key, value in existing.items() if key != "context"}
        yield {**configuration, _EXISTING: {**others, "kubeconfig": str(file)}}


def _decision(pool: Pool) -> Decision:
    size, count = pool.size, pool.node_count
    against = too_few(size, size.accelerator.count * count if size.accelerator else 0)
    return Decision(
        transport=TRANSPORTS[pool.mode],
        mode=pool.mode,
        size=size,
        count=count,
        gpu_driver=pool.gpu_driver,
        worth_it=not against,
        reasons=(*against, *reasons_for(pool.mode, size, count, pool.gpu_driver)),
    )
