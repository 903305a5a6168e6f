"""Prometheus' own programs, built from the pinned modules in programs/: three minutes of one core the first time."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rehearsal.tools.go import find_go

HERE = Path(__file__).parent
TAGS = "remove_all_sd"
"""Leaves out of promtool the discovery of machines in every cloud, and with it most of what would be compiled."""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """Builds a program, given the name of its module's folder and its package."""
    work = tmp_path_factory.mktemp("programs")
    go = find_go(work)
    environment = os.environ | {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-modcacherw"}

    def build(module: str, package: str) -> Path:
        options: list[str | Path] = ["-mod=readonly", "-tags", TAGS, "-gcflags=all=-dwarf=false -l"]
        options += ["-o", work / module]
        subprocess.run([go, "build", *options, package], cwd=HERE / "programs" / module, env=environment, check=True)
        return work / module

    return build


@pytest.fixture(scope="session")
def promtool(built: Callable[[str, str], Path]) -> Path:
    return built("promtool", "github.com/prometheus/prometheus/cmd/promtool")


@pytest.fixture(scope="session")
def node_exporter(built: Callable[[str, str], Path]) -> Path:
    return built("node_exporter", "github.com/prometheus/node_exporter")
