"""`make rehearse` as a person has it: what it prints, how it stops, and that nothing is left behind."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import yaml

from rehearsal.cli import EXIT_STOPPED, RUNS
from rehearsal.control_plane import ENVIRONMENT_VARIABLE
from rehearsal.tools.paths import PROJECT

from .conftest import SPEED, copy_of_project

LIMIT_SECONDS = 300.0
GONE_WITHIN_SECONDS = 60.0


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A program folder of its own, so that its rehearsals are nobody else's."""
    folder = copy_of_project(tmp_path / "checkout")
    yield folder
    rehearse(folder, "down", "all").wait(LIMIT_SECONDS)


def rehearse(checkout: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    """Start a command in a session of its own, as a terminal does; it prints into the file `output`."""
    environment = {key: value for key, value in os.environ.items() if key != ENVIRONMENT_VARIABLE}
    with (checkout / "output").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "rehearsal", "--project", str(checkout), *arguments],
            cwd=PROJECT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def printed(checkout: Path) -> str:
    return (checkout / "output").read_text()


def processes_of(checkout: Path) -> list[str]:
    """Command lines of everything that runs for a rehearsal of this checkout."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(ENVIRONMENT_VARIABLE, "").startswith(str(checkout)):
                found.append(" ".join(process.cmdline()))
    return found


def wait_until(condition: Callable[[], object], what: str, seconds: float = LIMIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.2)


def test_a_kept_cluster_is_named_by_one_line_for_kubectl_and_goes_with_rehearse_down(checkout: Path) -> None:
    up = rehearse(checkout, "up", "dev", "--keep", "--speed", str(SPEED))
    assert up.wait(LIMIT_SECONDS) == 0, printed(checkout)
    text = printed(checkout)
    assert "AgentPool" in text
    assert "ndh100: pass" in text
    result = json.loads((checkout / RUNS / "dev" / "result.json").read_text())
    assert (result["stack"], result["status"], "kubeconfig" in result["outputs"]) == ("dev", "succeeded", False)
    assert result["validation"]["ndh100"]["verdict"] == "pass"
    assert all(0 <= one["start_s"] <= one["end_s"] <= result["makespan_s"] for one in result["resources"])
    assert {one["status"] for one in result["resources"]} <= {"create", "read"}
    found = re.search(r"^export KUBECONFIG=(\S+)$", text, re.MULTILINE)
    assert found, text
    listing = subprocess.run(
        [str(Path(sys.executable).with_name("kubectl")), "--kubeconfig", found[1], "get", "nodes", "--no-headers"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(re.findall(r"^aks-ndh100-\S+ +Ready", listing.stdout, re.MULTILINE)) == 2

    again = rehearse(checkout, "up", "dev", "--keep", "--speed", str(SPEED))
    assert again.wait(LIMIT_SECONDS) == 0, printed(checkout)
    assert "nothing: everything is as the program says" in printed(checkout)
    again_result = json.loads((checkout / RUNS / "dev" / "result.json").read_text())
    assert {one["status"] for one in again_result["resources"]} <= {"same", "read"}

    assert rehearse(checkout, "down", "dev").wait(LIMIT_SECONDS) == 0
    assert processes_of(checkout) == []


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM], ids=lambda sign: sign.name)
def test_a_signal_in_the_middle_of_an_up_leaves_no_process_behind(checkout: Path, sign: signal.Signals) -> None:
    up = rehearse(checkout, "up", "dev", "--keep", "--speed", str(SPEED))
    wait_until(lambda: "ManagedCluster" in printed(checkout) or up.poll() is not None, "the cluster")
    up.send_signal(sign)
    assert up.wait(GONE_WITHIN_SECONDS) == EXIT_STOPPED, printed(checkout)
    assert sign.name in printed(checkout)
    assert processes_of(checkout) == []


def test_what_is_killed_in_the_middle_of_an_up_takes_everything_with_it(checkout: Path) -> None:
    up = rehearse(checkout, "up", "dev", "--speed", str(SPEED))
    wait_until(lambda: "ManagedCluster" in printed(checkout) or up.poll() is not None, "the cluster")
    assert processes_of(checkout)
    up.kill()
    up.wait(GONE_WITHIN_SECONDS)
    wait_until(lambda: not processes_of(checkout), "the end of every process", GONE_WITHIN_SECONDS)


def test_two_stacks_are_rehearsed_at_once(checkout: Path) -> None:
    shutil.copy(checkout / "Pulumi.dev.yaml", checkout / "Pulumi.other.yaml")
    first = rehearse(checkout, "up", "dev", "--speed", str(SPEED))
    second = rehearse(checkout, "up", "other", "--speed", str(SPEED))
    assert (first.wait(LIMIT_SECONDS), second.wait(LIMIT_SECONDS)) == (0, 0), printed(checkout)


def test_a_mistake_in_the_stack_file_is_told_in_words_with_key_value_and_what_is_allowed(checkout: Path) -> None:
    file = checkout / "Pulumi.dev.yaml"
    document = yaml.safe_load(file.read_text())
    document["config"]["aks-infiniband:pools"][0].update({"vmSize": "Standard_ND96isr_H100", "cuont": 2})
    file.write_text(yaml.safe_dump(document))
    assert rehearse(checkout, "up", "dev", "--speed", str(SPEED)).wait(LIMIT_SECONDS) == 1
    text = printed(checkout)
    assert "Standard_ND96isr_H100_v5" in text
    assert "cuont" in text
    assert "Traceback" not in text
    assert processes_of(checkout) == []
