"""A checkout of a small program, the commands that are run on it, and what is there afterwards."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import psutil
import yaml
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import ConfigMap, Namespace, Secret

from rehearsal.control_plane import ENVIRONMENT_VARIABLE, RunFolder
from rehearsal.run.commands import RUNS
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.waiting import eventually

Command = Literal["up", "change", "destroy"]
Victim = Literal["engine", "language host", "provider", "supervisor", "API server", "command", "make"]
STACK = "small"
LIMIT_SECONDS = 300
CLOUD = {
    "azure-native:resources:ResourceGroup": 1,
    "azure-native:containerservice:ManagedCluster": 1,
    "azure-native:containerservice:AgentPool": 1,
}
EVENTS: Final[Mapping[Command, int]] = {"up": 16, "change": 15, "destroy": 13}
"""The number of times that a resource begins or is done, in the engine's log, until the last step that takes a while is
under way.
"""
_OF_A_RESOURCE: Final = re.compile('^.*"(?:resourcePreEvent|resOutputsEvent)"', re.MULTILINE)
_PROGRAMS = {"engine": "pulumi", "language host": "pulumi-language-python", "provider": "pulumi-resource-kubernetes"}


@dataclass(frozen=True, kw_only=True)
class Kill:
    """The victim of a kill, the signal, and the moment: once so many hundredths of the command's EVENTS are in the
    engine's log.
    """

    command: Command
    fresh: bool
    victim: Victim
    sign: signal.Signals
    after: int

    def __str__(self) -> str:
        where = "fresh" if self.fresh else "kept"
        return f"{self.command}-{where}-{self.victim}-{self.sign.name}-{self.after}".replace(" ", "-")


@dataclass
class Checkout:
    """The program in a separate folder."""

    folder: Path

    @property
    def run(self) -> RunFolder:
        """Its run folder."""
        return RunFolder.at(self.folder / RUNS / STACK)

    def set_team(self, team: str) -> None:
        """Change the setting from which most of the program's resources follow."""
        file = self.folder / f"Pulumi.{STACK}.yaml"
        document = yaml.safe_load(file.read_text())
        document["config"]["interrupted:team"] = team
        document["config"]["interrupted:chart"] = str(PROJECT / "rehearsal/charts/node-feature-discovery")
        file.write_text(yaml.safe_dump(document))

    @property
    def team(self) -> str:
        """The setting, as the stack file has it."""
        return str(yaml.safe_load((self.folder / f"Pulumi.{STACK}.yaml").read_text())["config"]["interrupted:team"])

    def start(self, command: Command, *, by_make: bool = False) -> "subprocess.Popen[bytes]":
        """Start a command as a person does; what it prints goes to the file `output`."""
        up = ["rehearsal", "--project", str(self.folder), "up", STACK, "--keep", "--speed", "600"]
        destroy = ["tests.rehearsal.interruption.destroy", str(self.folder), STACK]
        line = [sys.executable, "-m", *(destroy if command == "destroy" else up)]
        if by_make:
            makefile = self.folder / "Makefile"
            makefile.write_text(f"it:\n\t@{' '.join(line)}\n")
            line = ["make", "--silent", "--file", str(makefile), "it"]
        environment = {key: value for key, value in os.environ.items() if key != ENVIRONMENT_VARIABLE}
        with (self.folder / "output").open("wb") as output:
            return subprocess.Popen(
                line, cwd=PROJECT, env=environment, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
            )

    def do(self, command: Command) -> None:
        """Run a command to its end; it must succeed."""
        assert self.start(command).wait(LIMIT_SECONDS) == 0, self.said()

    def said(self) -> str:
        """The output of the last command."""
        return (self.folder / "output").read_text()

    def prepare(self, kill: Kill) -> None:
        """Bring everything to the point at which the command that is to be killed begins."""
        if kill.fresh:
            self.down()
            self.set_team("a")
        elif kill.command == "up" and (self.state() or not self.cloud_is_up):
            self.do("destroy")
        elif kill.command != "up" and not self.state():
            self.do("up")
        if kill.command == "change":
            if kill.fresh:
                self.do("up")
            self.set_team("b" if self.team == "a" else "a")
        elif kill.command == "destroy" and kill.fresh:
            self.do("up")

    def down(self) -> None:
        """End the data centre, and forget it."""
        subprocess.run(
            [sys.executable, "-m", "rehearsal", "--project", str(self.folder), "down", STACK],
            cwd=PROJECT, check=True, capture_output=True,
        )  # fmt: skip
        shutil.rmtree(self.run.root, ignore_errors=True)

    def interrupt(self, kill: Kill) -> bool:
        """Run the command, kill its victim at its moment, and wait for the command's end; True if there was a victim.

        There is none if the command is done before a look: on a busy machine an event is seen late. To look for the
        victim takes a while there, and so that is done ahead.
        """
        events = self.run.pulumi / f"{'destroy' if kill.command == 'destroy' else 'up'}.events.jsonl"
        events.unlink(missing_ok=True)
        command = self.start(kill.command, by_make=kill.victim == "make")
        moment = 1 + (EVENTS[kill.command] - 1) * kill.after // 100
        victim: psutil.Process | None = None
        hit = False

        def is_over() -> bool:
            nonlocal victim, hit
            if command.poll() is not None:
                return True
            with suppress(psutil.Error):
                if victim is None or not victim.is_running():
                    victim = self._victim(kill.victim, command.pid)
                text = events.read_text() if events.exists() else ""
                if len(_OF_A_RESOURCE.findall(text)) >= moment:
                    victim.send_signal(kill.sign)
                    hit = True
            return hit

        eventually(is_over, seconds=LIMIT_SECONDS)
        command.wait(LIMIT_SECONDS)
        # A command that lost its make continues by itself.
        eventually(lambda: not self._commands(), seconds=LIMIT_SECONDS)
        return hit

    def _victim(self, victim: Victim, command: int) -> psutil.Process:
        """Raises psutil.NoSuchProcess if it does not run yet."""
        if victim in {"command", "make"}:
            return psutil.Process(command)
        if victim in {"supervisor", "API server"}:
            run = self.run.read_run_json()
            return psutil.Process(
                run["supervisor"] if victim == "supervisor" else run["parts"]["kube-apiserver"]["pid"]
            )
        program = _PROGRAMS[victim][:15]
        found = next((process for process in self.processes() if process.name().startswith(program)), None)
        if found is None:
            raise psutil.NoSuchProcess(0, program)
        return found

    def processes(self) -> list[psutil.Process]:
        """Everything that runs for the run folder."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get(ENVIRONMENT_VARIABLE) == str(self.run.root):
                    found.append(process)
        return found

    def _commands(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                words = process.cmdline()
                if str(self.folder) in words and ("rehearsal" in words or "destroy" in " ".join(words)):
                    found.append(process)
        return found

    def state(self) -> list[dict[str, Any]]:
        """The resources of providers that the engine knows."""
        files = list(self.run.pulumi.glob(f"backend/.pulumi/stacks/*/{STACK}.json"))
        latest = json.loads(files[0].read_text())["checkpoint"].get("latest") if files else None
        resources = (latest or {}).get("resources") or []
        return [resource for resource in resources if resource.get("custom") and "providers" not in resource["type"]]

    @property
    def cloud_is_up(self) -> bool:
        """True if a data centre runs."""
        return bool(self.processes())

    def cloud(self) -> list[dict[str, Any]]:
        """The content of the simulated subscription, except the pool that comes with the cluster."""
        file = self.run.azure / "state.json"
        held = json.loads(file.read_text())["resources"] if file.exists() else []
        return [record for record in held if not record["id"].endswith("/agentPools/system")]

    def check_all_is_there_once(self) -> None:
        """Cloud, cluster and the engine's state are what the program says: nothing twice, nothing lost."""
        cloud = self.cloud()
        assert Counter(record["pulumi_type"] for record in cloud) == CLOUD
        known = {resource["id"].casefold() for resource in self.state() if resource["type"].startswith("azure-native")}
        assert known == {record["id"].casefold() for record in cloud}
        assert [record["failure"] for record in cloud] == [None] * len(cloud)
        client = Client(config=KubeConfig.from_file(self.run.kubeconfig), trust_env=False)
        assert client.get(ConfigMap, "settings", namespace="space").data == {"team": self.team}
        releases = list(client.list(Secret, namespace="space", labels={"owner": "helm", "status": "deployed"}))
        assert [release.to_dict()["metadata"]["labels"]["name"] for release in releases] == ["discovery"]
        spaces = [space.metadata.name for space in client.list(Namespace) if space.metadata]
        assert spaces.count("space") == 1

    def check_nothing_is_there(self) -> None:
        """Everything has been destroyed."""
        assert self.cloud() == []
        assert self.state() == []

    def check_nothing_is_left_running(self) -> None:
        """The engine and its children do not run; the data centre does."""
        names = {process.name() for process in self.processes()}
        assert not names & {"pulumi", *(program[:15] for program in _PROGRAMS.values())}, names
        assert self.run.read_run_json()["state"] == "ready"
