"""The real engine on a program of a test's own that needs no Azure."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from rehearsal.engine.pulumi import Engine
from rehearsal.testing.stack import Outcome, run
from rehearsal.tools.paths import BIN, PLUGINS

__all__ = ["Outcome", "engine_on", "run"]


def engine_on(
    program: Path, *, folder: Path, stack: str, environment: Mapping[str, str], config: Mapping[str, str] | None = None
) -> Engine:
    """The engine on a stack of a program that needs no Azure. config: the stack's, by full key."""
    folder.mkdir(parents=True, exist_ok=True)
    engine = Engine(
        project=program,
        folder=folder,
        stack=stack,
        bin_folders=(Path(sys.executable).parent, BIN),
        environment=environment,
        log=folder / "log",
    )
    document: dict[str, Any] = {"encryptionsalt": engine.prepare(plugins=PLUGINS), "config": dict(config or {})}
    engine.stack_file.write_text(yaml.safe_dump(document))
    return engine
