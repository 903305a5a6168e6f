"""The pinned Pulumi engine, run on a rehearsal's own backend, its events read while it works."""

import json
import os
import re
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from rehearsal.engine.events import Diagnostic, Event, EventReader
from rehearsal.engine.project_file import read_project
from rehearsal.run.folder import write_atomically
from rehearsal.run.loopback import reaching_loopback

_DROPPED_ENVIRONMENT: Final = ("ARM_", "AZURE_", "PULUMI_", "KUBECONFIG", "HELM_", "PYTHONUNBUFFERED")
"""Prefixes of variables that would lead the engine to the user's own account, cluster or backend. The last makes
Python write a program's output in small pieces, and the engine would pass on each as a message."""
_ERROR: Final = re.compile(r"^error: (.*(?:\n[ \t]+.*)*)", re.MULTILINE)
"""An error that the engine itself prints: a line that begins at the margin, and the indented lines below it."""
_STATE_VERSION: Final = 3
_GRACE_SECONDS: Final = 10.0
_THRIFT: Final = {
    # pip.py in that folder lists the packages that bring a provider: pip itself takes more than half a second.
    "PYTHONPATH": str(Path(__file__).with_name("python_path")),
    # Go looks for garbage less often: an engine and its providers live for seconds.
    "GOGC": "400",
    # An earlier state of a rehearsal is never restored.
    "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
}
"""Settings that spare the engine work that is useless in a rehearsal."""


class EngineError(Exception):
    """The engine could not be set up; the text holds its output and the path of its log."""


@dataclass(kw_only=True)
class Run:
    """An engine command under way: iterate `events()` to its end, then read `exit_code`."""

    process: "subprocess.Popen[bytes]"
    event_log: Path
    log: Path
    """The output of the engine, with that of the commands before."""
    log_start: int
    exit_code: int | None = None
    _reader: EventReader = field(default_factory=EventReader)

    def events(self) -> Iterator[Event]:
        """Events as they happen; None about five times a second while none happens."""
        with self.event_log.open() as log:
            rest = ""
            while True:
                ended = self.process.poll() is not None
                if self.event_log.stat().st_size < log.tell():
                    log.seek(0)  # the engine begins the log again between a preview and what follows it
                    rest = ""
                rest += log.read()
                *lines, rest = rest.split("\n")
                seen = time.monotonic()
                for line in lines:
                    yield from self._reader.read(json.loads(line), seen)
                if ended:
                    yield from self._reader.rest()
                    break
                yield None
                time.sleep(0.2)
        self.exit_code = self.process.returncode
        if self.exit_code != 0:
            yield from self._printed_errors()

    def _printed_errors(self) -> Iterator[Diagnostic]:
        """Errors that the engine only prints, such as: another command holds the stack, or its files are unreadable."""
        with self.log.open("rb") as log:
            log.seek(self.log_start)
            printed = log.read().decode(errors="replace")
        for message in _ERROR.findall(printed):
            yield Diagnostic(severity="error", message=message.rstrip())

    def stop(self) -> None:
        """Cancel the engine with a signal, then insist."""
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is not None:
                return
            os.killpg(self.process.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(_GRACE_SECONDS)


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One stack on one backend.

    project: folder of Pulumi.yaml. folder: for all the engine's own files: home, backend, stack file, event logs.
    bin_folders: of the pinned engine, language host and Python, first on PATH. environment: further variables of every
    engine process.
    """

    project: Path
    folder: Path
    stack: str
    bin_folders: Sequence[Path]
    environment: Mapping[str, str]
    log: Path

    @property
    def stack_file(self) -> Path:
        """The stack file that the engine reads."""
        return self.folder / f"Pulumi.{self.stack}.yaml"

    @property
    def state_file(self) -> Path:
        """The backend's file with the stack's state."""
        return self.folder / "backend" / ".pulumi" / "stacks" / read_project(self.project).name / f"{self.stack}.json"

    @property
    def plugins(self) -> Path:
        """The engine's folder of providers."""
        return self.folder / "home" / "plugins"

    def environ(self) -> dict[str, str]:
        """The engine's whole environment."""
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(_DROPPED_ENVIRONMENT)}
        path = os.pathsep.join([*map(str, self.bin_folders), inherited.get("PATH", "")])
        return {
            **reaching_loopback(inherited),
            **_THRIFT,
            **self.environment,
            "PATH": path,
            # A container runs as users that no passwd knows, and the engine writes down the user, and the home folder.
            "USER": inherited.get("USER") or str(os.getuid()),
            "HOME": inherited.get("HOME") or str(self.folder / "home"),
            # The provider writes kubeconfigs there: neither a small /tmp nor its other users are to matter.
            "TMPDIR": str(self.folder / "tmp"),
            "PULUMI_HOME": str(self.folder / "home"),
            # With metadata the backend writes another file for each one. A killed engine may leave that one empty, and
            # the stack could never be read again (gocloud.dev, fileblob; seen 2026-11-29).
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'backend'}?metadata=skip",
            "PULUMI_CONFIG_PASSPHRASE_FILE": str(self.folder / "passphrase"),
            # Every plugin is here already; the engine must not look for one elsewhere, nor for a newer engine.
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # The flag --event-log is one of the engine's debugging commands.
            "PULUMI_DEBUG_COMMANDS": "1",
        }

    def prepare(self, *, plugins: Path) -> str:
        """Make the backend and the stack if they are not yet there, and give the stack's salt.

        plugins: folder of the providers that were built, in the layout of the engine. The stack is made outside the
        project, because the engine writes its salt into the stack file it finds.
        """
        (self.folder / "tmp").mkdir(parents=True, exist_ok=True)
        init = self.folder / "init"
        salted = init / f"Pulumi.{self.stack}.yaml"
        if not salted.exists():
            for folder in (init, self.folder / "backend", self.plugins):
                folder.mkdir(parents=True, exist_ok=True)
            # The engine passes over a plugin folder that is a link, but not over links in it.
            for file in plugins.glob("*/*"):
                (self.plugins / file.parent.name).mkdir(exist_ok=True)
                link = self.plugins / file.parent.name / file.name
                if not link.is_symlink():  # another stack has made it
                    link.symlink_to(file)
            # If this is not a folder, the engine does not keep a log, which is a third of its work.
            (self.folder / "home" / "logs").touch()
            passphrase = self.folder / "passphrase"
            if not passphrase.exists():
                passphrase.touch(mode=0o600)
                passphrase.write_text(secrets.token_urlsafe())
            name = read_project(self.project).name
            (init / "Pulumi.yaml").write_text(yaml.safe_dump({"name": name, "runtime": "python"}))
            self.output_of(["stack", "init", self.stack, "--cwd", str(init)])
        return str(yaml.safe_load(salted.read_text())["encryptionsalt"])

    def set_secrets(self, values: Mapping[str, str]) -> None:
        """Put secrets into the stack file, encrypted. values: by their path, as `pulumi config set --path` takes it."""
        secret = [word for path, value in values.items() for word in ("--secret", f"{path}={value}")]
        if secret:
            where = ["--stack", self.stack, "--config-file", str(self.stack_file)]
            self.output_of(["config", "set-all", "--path", *secret, *where])

    def cancel_ended_update(self) -> None:
        """Free the stack from an update whose engine was killed. Call it only when no engine works on the stack."""
        if any((self.folder / "backend").glob(".pulumi/locks/**/*.json")):
            self.output_of(["cancel", self.stack, "--yes"])

    def deployment(self) -> dict[str, Any]:
        """The stack's state, as the backend keeps it."""
        if not self.state_file.exists():
            return {}
        return dict(json.loads(self.state_file.read_text())["checkpoint"].get("latest") or {})

    def set_deployment(self, deployment: Mapping[str, Any]) -> None:
        """Replace the stack's state. deployment: as `deployment` gives it."""
        file = self.folder / "deployment.json"
        write_atomically(file, json.dumps({"version": _STATE_VERSION, "deployment": deployment}), mode=0o600)
        self.output_of(["stack", "import", "--stack", self.stack, "--file", str(file)])
        file.unlink()

    def refresh(self, urns: Sequence[str]) -> None:
        """Have the providers check that some resources are still there, and forget those that are not."""
        targets = [word for urn in urns for word in ("--target", urn)]
        where = ["--stack", self.stack, "--config-file", str(self.stack_file)]
        self.output_of(["refresh", "--yes", "--skip-preview", *where, *targets])

    def run(self, command: str, *arguments: str) -> Run:
        """Start `preview`, `up` or `destroy` of the stack."""
        event_log = self.folder / f"{command}.events.jsonl"
        event_log.write_text("")
        line = [
            "pulumi", command, "--stack", self.stack, "--config-file", str(self.stack_file),
            "--event-log", str(event_log), "--non-interactive", "--color", "never", *arguments,
        ]  # fmt: skip
        with self.log.open("ab", buffering=0) as log:
            log.write(f"$ {' '.join(line)}\n".encode())
            log_start = log.tell()
            # A separate session: a Ctrl-C reaches the engine once, from `stop`, and not twice.
            process = subprocess.Popen(
                line, cwd=self.project, env=self.environ(), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        return Run(process=process, event_log=event_log, log=self.log, log_start=log_start)

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs; secrets stay hidden."""
        return dict(json.loads(self.output_of(["stack", "output", "--json", "--stack", self.stack])))

    def output_of(self, arguments: list[str]) -> str:
        """The output of a command of the engine. Raises EngineError if it fails."""
        done = subprocess.run(
            ["pulumi", *arguments, "--non-interactive"], cwd=self.project, env=self.environ(),
            capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise EngineError(f"pulumi {' '.join(arguments)} failed ({done.returncode}): {done.stderr or done.stdout}")
        return done.stdout
