"""`make rehearse` on a program of one object: what it prints, how it stops, and that nothing is left behind.

Its output for the project's own program is tested with the stack `dev`.
"""

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import yaml

from rehearsal.cli.command import EXIT_STOPPED
from rehearsal.run.commands import RUNS
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS
from tests.rehearsal.shell import in_shell
from tests.rehearsal.stacks.commands import LIMIT_SECONDS, UP, printed, processes_of, rehearse, wait_until
from tests.rehearsal.stacks.conftest import copy_of_project

PROGRAM = Path(__file__).with_name("program")
CLUSTER_PROGRAM = Path(__file__).parents[2] / "rehearsal" / "interruption" / "cluster_program"


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Path]:
    """A separate program folder, so that its rehearsals are not shared."""
    folder = shutil.copytree(PROGRAM, tmp_path / "checkout")
    yield folder
    rehearse(folder, "down", "all").wait(LIMIT_SECONDS)


def waits_in_up(checkout: Path) -> bool:
    """True if the engine is in the middle of an update."""
    return re.search(r"pulumi up\n(.*\n)*.*waiting for .*never", printed(checkout)) is not None


def test_two_stacks_are_rehearsed_at_once_and_a_kept_one_is_named_for_kubectl_and_goes_with_rehearse_down(
    checkout: Path,
) -> None:
    """One of them in a read-only container without network, home, /tmp and privileges: that makes no difference."""
    (checkout / RUNS).mkdir()
    up = rehearse(checkout, "up", "one", "--keep", *UP)
    other = rehearse(checkout, "up", "other", *UP, poor=checkout / RUNS)
    assert (up.wait(LIMIT_SECONDS), other.wait(LIMIT_SECONDS)) == (0, 0), printed(checkout)
    assert (checkout / RUNS / "other" / "timeline.html").exists(), printed(checkout)
    result = json.loads((checkout / RUNS / "one" / "result.json").read_text())
    assert (result["stack"], result["status"]) == ("one", "succeeded")
    assert {resource["status"] for resource in result["resources"]} == {"create"}
    inside, stop = re.findall(r"^  (\. \S+|\(.+ down one\))$", printed(checkout), re.MULTILINE)
    assert "made" in in_shell(f"{inside} && kubectl get configmap made && pulumi stack --show-name")

    again = rehearse(checkout, "up", "one", "--keep", *UP)
    assert again.wait(LIMIT_SECONDS) == 0, printed(checkout)
    assert "nothing: everything was, when it was last looked at," in printed(checkout)
    again_result = json.loads((checkout / RUNS / "one" / "result.json").read_text())
    assert {resource["status"] for resource in again_result["resources"]} == {"same"}

    assert in_shell(stop).startswith("one: ended ")
    assert processes_of(checkout) == []
    refused = subprocess.run(["bash", "-c", f"{inside} && pulumi up"], capture_output=True, text=True, check=False)
    assert (refused.returncode, "no rehearsal of stack one is up" in refused.stdout) == (1, True)


def stop(up: "subprocess.Popen[bytes]", checkout: Path, sign: signal.Signals) -> None:
    """Interrupt a command: it says by what, and leaves no process behind."""
    up.send_signal(sign)
    assert up.wait(LIMIT_SECONDS) == EXIT_STOPPED, printed(checkout)
    assert sign.name in printed(checkout)
    assert "Traceback" not in printed(checkout)
    assert processes_of(checkout) == []


def test_sigterm_in_the_middle_of_an_up_leaves_no_process_behind(checkout: Path) -> None:
    up = rehearse(checkout, "up", "waits", "--keep", *UP)
    wait_until(lambda: waits_in_up(checkout) or up.poll() is not None, "the object that never gets ready")
    stop(up, checkout, signal.SIGTERM)


def test_a_second_command_is_refused_and_an_engine_that_was_killed_does_not_block_the_next(checkout: Path) -> None:
    up = rehearse(checkout, "up", "waits", "--keep", *UP)
    wait_until(lambda: waits_in_up(checkout) or up.poll() is not None, "the object that never gets ready")
    assert rehearse(checkout, "up", "waits", "--keep", *UP).wait(LIMIT_SECONDS) == 1
    assert f"another command works on stack waits (process {up.pid}, since " in printed(checkout)

    [engine] = [process for process in psutil.Process(up.pid).children() if process.name() == "pulumi"]
    engine.kill()
    assert up.wait(LIMIT_SECONDS) == 1, printed(checkout)
    (checkout / "output").write_text("")
    again = rehearse(checkout, "up", "waits", "--keep", *UP)
    wait_until(lambda: waits_in_up(checkout) or again.poll() is not None, "the same object, once more")
    assert "carrying on with the data centre" in printed(checkout)
    stop(again, checkout, signal.SIGINT)


def test_what_is_killed_in_the_middle_of_an_up_takes_everything_with_it(checkout: Path) -> None:
    up = rehearse(checkout, "up", "waits", *UP)
    wait_until(lambda: waits_in_up(checkout) or up.poll() is not None, "the object that never gets ready")
    assert processes_of(checkout)
    up.kill()
    up.wait(LIMIT_SECONDS)
    wait_until(lambda: not processes_of(checkout), "the end of every process")


def test_a_mistake_in_the_stack_file_is_told_in_words_with_key_value_and_what_is_allowed(tmp_path: Path) -> None:
    checkout = copy_of_project(tmp_path / "project")
    file = checkout / "Pulumi.dev.yaml"
    document = yaml.safe_load(file.read_text())
    document["config"]["aks-infiniband:pools"][0].update({"vmSize": "Standard_ND96isr_H100", "cuont": 2})
    file.write_text(yaml.safe_dump(document))
    assert rehearse(checkout, "up", "dev", *UP).wait(LIMIT_SECONDS) == 1
    text = printed(checkout)
    assert "Standard_ND96isr_H100_v5" in text
    assert "cuont" in text
    assert "Traceback" not in text
    assert processes_of(checkout) == []


@pytest.mark.long
def test_a_cluster_a_pool_and_a_chart_are_made_where_little_is_allowed(tmp_path: Path) -> None:
    checkout = shutil.copytree(CLUSTER_PROGRAM, tmp_path / "checkout")
    file = checkout / "Pulumi.small.yaml"
    file.write_text(f"{file.read_text()}  interrupted:chart: {STAND_IN_CHARTS / 'node-feature-discovery'}\n")
    (checkout / RUNS).mkdir()
    assert rehearse(checkout, "up", "small", *UP, poor=checkout / RUNS).wait(LIMIT_SECONDS) == 0, printed(checkout)
    made = json.loads((checkout / RUNS / "small" / "result.json").read_text())["resources"]
    assert {"ManagedCluster", "AgentPool", "Release"} <= {resource["type"].rpartition(":")[2] for resource in made}
    assert processes_of(checkout) == []
