"""The engine's list of the installed packages, without pip's start."""

import json
import os
import subprocess
import sys
from pathlib import Path

import rehearsal.engine.pulumi

FOLDER = Path(rehearsal.engine.pulumi.__file__).with_name("python_path")


def pip(*arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    command = [sys.executable, "-m", "pip", *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


QUESTION = ("list", "-v", "--format", "json")
"""As the language host calls it."""


def by_name(listed: str) -> dict[str, tuple[str, str]]:
    """Version and folder of each package, by its name with hyphens."""
    return {
        package["name"].replace("_", "-"): (package["version"], package["location"]) for package in json.loads(listed)
    }


def test_the_packages_that_bring_a_provider_are_listed_as_pip_lists_them() -> None:
    by_pip = by_name(
        subprocess.run([sys.executable, "-m", "pip", *QUESTION], check=True, capture_output=True, text=True).stdout
    )
    providers = ("pulumi-azure-native", "pulumi-kubernetes")
    assert by_name(pip(*QUESTION)) == {name: by_pip[name] for name in providers}


def test_everything_else_is_answered_by_pip() -> None:
    assert pip("--version").startswith("pip ")
    assert "pytest" in pip("list", "--format", "freeze")
