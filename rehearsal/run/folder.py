"""The files of one run: a folder per stack, and nothing outside it."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENVIRONMENT_VARIABLE = "AKS_INFINIBAND_REHEARSAL"
"""Every process of a run carries this variable with the absolute path of its run folder; `down` finds them by it."""

AWAIT_EVERY_S = 0.02

_MARKER = ".aks-infiniband-rehearsal"
_MARK = "This folder belongs to a rehearsal, which empties it when it starts again.\n"


class RunFolderError(Exception):
    """A folder that cannot be a run folder."""


@dataclass(frozen=True)
class RunFolder:
    """The paths in a run folder. `RunFolder.at()` makes the root absolute."""

    root: Path

    @classmethod
    def at(cls, path: Path | str) -> RunFolder:
        """The run folder of a path, which need not exist yet."""
        return cls(root=Path(path).resolve())

    @property
    def run_json(self) -> Path:
        """The running parts: process ids, ports, state, parts. Written by the supervisor."""
        return self.root / "run.json"

    @property
    def lock(self) -> Path:
        """Locked by the supervisor for as long as it lives."""
        return self.root / "lock"

    @property
    def command(self) -> Path:
        """Locked by the command that works on the folder, for as long as it lives; says who that is."""
        return self.root / "command"

    @property
    def supervisor_log(self) -> Path:
        """The supervisor's own output, as a rule empty. Not in `logs`, because that folder is made after it."""
        return self.root / "supervisor.log"

    @property
    def pki(self) -> Path:
        return self.root / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The cluster administrator's kubeconfig."""
        return self.root / "kubeconfig"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def etcd(self) -> Path:
        return self.root / "etcd"

    @property
    def azure(self) -> Path:
        """The simulated subscription."""
        return self.root / "azure"

    @property
    def faults(self) -> Path:
        """The faults of the machines, for the programs that simulate them. The programs of pods read it too."""
        return self.root / "faults"

    @property
    def azure_login(self) -> Path:
        """The simulated Azure's address for people, and their identity: for `aks-infiniband`."""
        return self.azure / "login.json"

    @property
    def machines(self) -> Path:
        """The simulated machines' files: one folder per pod that is executed."""
        return self.root / "machines"

    @property
    def pulumi(self) -> Path:
        """PULUMI_HOME, the backend, a copy of the stack file, events."""
        return self.root / "pulumi"

    @property
    def temporary(self) -> Path:
        """Temporary files of the parts, keys among them. The files are here so that neither a small /tmp nor its other
        users matter.
        """
        return self.root / "tmp"

    @property
    def result(self) -> Path:
        """The result of the rehearsal, for other programs."""
        return self.root / "result.json"

    @property
    def ready(self) -> Path:
        """A part that serves writes a JSON file of its name here."""
        return self.root / "ready"

    @property
    def kwok_config(self) -> Path:
        return self.root / "kwok.yaml"

    def further(self, number: int) -> RunFolder:
        """The run folder of a further cluster; the first cluster's is this one. number: from 2 on."""
        return RunFolder(self.root / "clusters" / str(number))

    def clusters(self) -> list[RunFolder]:
        """The run folders of every cluster that a rehearsal has room for, this one first."""
        numbers = sorted(int(path.name) for path in (self.root / "clusters").glob("[0-9]*"))
        return [self, *map(self.further, numbers)]

    def log(self, part: str) -> Path:
        """The log of a part."""
        return self.logs / f"{part}.log"

    def ready_file(self, part: str) -> Path:
        """There as soon as the part serves."""
        return self.ready / part

    def await_ready(self, part: str) -> None:
        """Waits until a part serves, for as long as it takes. If the part fails, the supervisor ends the process that
        waits.
        """
        while not self.ready_file(part).exists():
            time.sleep(AWAIT_EVERY_S)

    def part_kubeconfig(self, part: str) -> Path:
        """With which a part speaks to the API server."""
        return self.pki / f"{part}.kubeconfig"

    def claim(self) -> None:
        """Makes the folder if there is none, and marks it.

        Raises RunFolderError when there is one that holds something and is not a run folder.
        """
        if self.root.exists() and not self.root.is_dir():
            raise RunFolderError(f"run folder {self.root} is not a folder: name another")
        if self.root.exists() and any(self.root.iterdir()) and not self._is_ours():
            raise RunFolderError(
                f"run folder {self.root} holds files that no rehearsal put there: name another, or empty it"
            )
        self.root.mkdir(parents=True, exist_ok=True)
        self.root.chmod(0o700)
        write_atomically(self.root / _MARKER, _MARK)

    def _is_ours(self) -> bool:
        # Before there was a marker, there was a run.json that names a supervisor.
        return (self.root / _MARKER).is_file() or "supervisor" in self.read_run_json()

    def prepare(self) -> None:
        """Empties the folder, or makes it. Raises RunFolderError as `claim` does."""
        self.claim()
        for entry in self.root.iterdir():
            if entry in {self.lock, self.command, self.supervisor_log, self.root / _MARKER}:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
        for folder in (
            self.pki, self.logs, self.etcd, self.azure, self.faults, self.machines, self.pulumi, self.ready,
            self.temporary,
        ):  # fmt: skip
            folder.mkdir(mode=0o700)

    def read_run_json(self) -> dict[str, Any]:
        """The content of run.json; nothing if there is none."""
        try:
            content = json.loads(self.run_json.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}


def write_atomically(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Writes a file so that a reader sees the old content or the new, never a part."""
    draft = path.with_name(f".{path.name}.draft")
    draft.touch(mode=mode)
    draft.chmod(mode)
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
