"""The parts that the built programs leave out say so when they are called; the parts that a rehearsal needs are
there.
"""

import os
import subprocess
from pathlib import Path

import pytest

from rehearsal.tools.paths import BIN
from tests.rehearsal.engine_runs import engine_on, run

PROGRAM = Path(__file__).parent / "program"


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """A project, and a state backend in a folder."""
    (tmp_path / "Pulumi.yaml").write_text("name: own\nruntime: python\n")
    (tmp_path / "backend").mkdir()
    return tmp_path


def _pulumi(folder: Path, *arguments: str, backend: str = "") -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PULUMI_HOME": str(folder / "home"),
        "PULUMI_BACKEND_URL": backend or f"file://{folder / 'backend'}",
        "PULUMI_CONFIG_PASSPHRASE": "passphrase",
        "PULUMI_SKIP_UPDATE_CHECK": "1",
        "PULUMI_DEBUG_COMMANDS": "1",
    }
    command = [str(BIN / "pulumi"), *arguments, "--non-interactive"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("scheme", ["azblob", "gs", "s3"])
def test_state_in_a_cloud_is_left_out_and_says_so(folder: Path, scheme: str) -> None:
    asked = _pulumi(folder, "stack", "ls", backend=f"{scheme}://bucket")
    assert asked.returncode != 0
    assert f"the rehearsal's engine is built without the state backend {scheme}://; use file://" in asked.stderr


@pytest.mark.parametrize("provider", ["awskms://key", "azurekeyvault://key", "gcpkms://key", "hashivault://key"])
def test_secrets_of_a_cloud_are_left_out_and_say_so(folder: Path, provider: str) -> None:
    asked = _pulumi(folder, "stack", "init", "dev", "--secrets-provider", provider)
    assert asked.returncode != 0
    assert "built without the secrets providers of clouds" in asked.stderr
    assert "use a passphrase" in asked.stderr


@pytest.mark.parametrize("command", ["neo", "view-trace", "convert-trace"])
def test_a_command_that_is_left_out_says_so(folder: Path, command: str) -> None:
    asked = _pulumi(folder, command, "argument")
    assert asked.returncode != 0
    assert f"the rehearsal's engine is built without `pulumi {command}`" in asked.stderr


def test_state_in_a_folder_and_secrets_with_a_passphrase_are_there(folder: Path) -> None:
    for arguments in (["stack", "init", "dev"], ["config", "set", "--secret", "password", "open sesame"]):
        done = _pulumi(folder, *arguments)
        assert done.returncode == 0, done.stderr
    assert "open sesame" not in (folder / "Pulumi.dev.yaml").read_text()
    assert _pulumi(folder, "config", "get", "password").stdout.strip() == "open sesame"


@pytest.mark.parametrize("token", ["kubernetes:yaml/v2:ConfigGroup", "kubernetes:helm.sh/v4:Chart"])
def test_a_component_resource_is_left_out_and_says_so(tmp_path: Path, token: str) -> None:
    kind = token.rsplit(":", 1)[-1]
    config = {"component-resources:kind": kind, "component-resources:folder": str(tmp_path / "rendered")}
    outcome = run(engine_on(PROGRAM, folder=tmp_path, stack="dev", environment={}, config=config), "preview")
    assert not outcome.succeeded
    assert f"{token} (own): the rehearsal's Kubernetes provider is built without component resources" in outcome.errors
