"""Starts the virtual machine, runs commands in it, and ends it whatever happens."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from rehearsal.real_tools.clock import clock_khz
from rehearsal.real_tools.image import LIBRARIES, SHARED, Image, image

BOOT_SECONDS = (60.0, 60.0, 180.0)
"""Limit of each start before the next one; on an idle machine one takes ten, two at the same time thirty.

One start hung on idle cores, and the other one at the same time did not; 28 starts after it, two by two, did not hang
either (2026-11-24). Why is not known. The last start has time for a machine that is only busy.
"""
HOST = "10.0.2.2"
"""The address at which a pod finds the loopback interface of the machine that all this runs on."""
POD_ADDRESSES = ("10.0.2.20", "10.0.2.21")
HCAS = (("mlx5_0", "mlx5_1"), ("mlx5_2", "mlx5_3"))
"""HCAs of each pod's node."""
SHARE = "/share"


class Ended(NamedTuple):
    """The end of a command: its exit code, None if it was killed at its limit, and all of its output."""

    code: int | None
    output: str


def in_pod(pod: int) -> list[str]:
    """The prefix that runs the command that follows it as a container of a pod (guest/shared/pod)."""
    return ["ip", "netns", "exec", f"pod-{pod}", "sh", "/aks-infiniband/shared/pod", str(pod)]


class Started:
    """A command that was started in the machine."""

    def __init__(self, machine: Machine, number: int, hears: SimpleQueue[dict[str, Any] | None]) -> None:
        self._machine, self._number, self._hears = machine, number, hears

    def words(self, *, silence_seconds: float | None = None) -> Iterator[dict[str, Any]]:
        """The agent's words on it (guest/shared/agent.py), until it has reported the end, or the machine has ended.

        Raises MachineError after a silence of so many seconds.
        """
        try:
            while (words := self._hears.get(timeout=silence_seconds)) is not None:
                yield words
                if "code" in words:
                    return
        except Empty:
            raise MachineError(f"the virtual machine does not answer: {self._machine.console_end()}") from None
        finally:
            self._machine.forget(self._number)

    def end(self) -> None:
        """Kill it, and all that it started. Raises MachineError."""
        self._machine.end(self._number)


class MachineError(Exception):
    """The virtual machine has ended, or does not answer. The message has the end of its console."""


class Machine:
    """A virtual machine with two pods of two HCAs each; it ends with the block that it is started in.

    The machine also ends when this process does, however that ends: its agent has lost its connection then.
    """

    def __init__(self, folder: Path, *, share: Path, boot_seconds: Sequence[float] = BOOT_SECONDS) -> None:
        """folder: for its console. share: what it finds below SHARE. boot_seconds: of each start that is tried.

        Raises UnavailableError.
        """
        self._image: Image = image()
        self._console = folder / "console.txt"
        self._share = share
        self._boot_seconds = boot_seconds
        self._hearing: dict[int, SimpleQueue[dict[str, Any] | None]] = {}
        self._numbers = itertools.count(1)
        self._ended = False
        self._lock = threading.Lock()

    def __enter__(self) -> Machine:
        """Start it, again if it hangs, and wait until its agent has called. Raises MachineError."""
        self._connection = self._booted()
        self._answers = threading.Thread(target=self._take_answers, daemon=True)
        self._answers.start()
        return self

    def _booted(self) -> socket.socket:
        """The connection of the first start that comes to its end."""
        for seconds in self._boot_seconds:
            with contextlib.suppress(TimeoutError):
                return self._start_once(seconds)
            print(f"the virtual machine has not started within {seconds:g} s: {self.console_end()}", flush=True)
        raise MachineError(f"the virtual machine has hung {len(self._boot_seconds)} times while it started")

    def _start_once(self, seconds: float) -> socket.socket:
        """Start it; its agent's connection. Raises TimeoutError if none came in time, and MachineError."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            with self._console.open("wb") as console:
                command = self._command(server.getsockname()[1])
                modules = {"QEMU_MODULE_DIR": str(self._image.host / "usr/lib/x86_64-linux-gnu/qemu")}
                self._qemu = subprocess.Popen(
                    command, env={**os.environ, **modules}, stdin=subprocess.DEVNULL, stdout=console, stderr=console
                )
            try:
                return self._called(server, time.monotonic() + seconds)
            except BaseException:
                self._end()
                raise

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._connection.close()
        self._end()

    def _end(self) -> None:
        self._qemu.kill()
        self._qemu.wait()

    def _command(self, port: int) -> list[str]:
        host = self._image.host
        # Nehalem: without AVX and its kin, which are emulated slowly, a validation takes 15 % less time (2026-11-26).
        # The kernel would measure its clock against an emulated one, and take seconds for four on a busy machine.
        clock = f"tsc=reliable tsc_early_khz={clock_khz(self._image.ticks)}"
        console = "console=ttyS0 earlyprintk=serial"  # every word of the kernel, to show the place at which it hangs
        libraries = ":".join(str(host / folder) for folder in LIBRARIES)
        shares = (
            word
            for tag, path in (("guest", SHARED), ("share", self._share))
            for word in ("-virtfs", f"local,path={path},mount_tag={tag},security_model=none,multidevs=remap")
        )
        return [
            *(str(host / "lib64/ld-linux-x86-64.so.2"), "--library-path", libraries),
            str(host / "usr/bin/qemu-system-x86_64"),
            *("-accel", "tcg,thread=multi", "-cpu", "Nehalem", "-smp", "1", "-m", "1024"),
            *("-M", "q35,usb=off", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
            *("-L", str(host / "usr/share/seabios"), "-L", str(host / "usr/share/qemu")),
            *("-serial", "stdio", "-kernel", str(self._image.kernel), "-initrd", str(self._image.disk)),
            *("-append", f"{console} panic=-1 mitigations=off {clock} aks_infiniband.port={port}"),
            *("-netdev", "user,id=pods,ipv6=off", "-device", "virtio-net-pci,netdev=pods,romfile="),
            *shares,
        ]

    def _called(self, server: socket.socket, give_up: float) -> socket.socket:
        """The agent's connection."""
        server.settimeout(1)
        while True:
            with contextlib.suppress(TimeoutError):
                connection, _ = server.accept()
                return connection
            if self._qemu.poll() is not None:
                raise MachineError(f"the virtual machine has ended while it started: {self.console_end()}")
            if time.monotonic() > give_up:
                raise TimeoutError

    def console_end(self) -> str:
        """The last that the machine's console has said."""
        return self._console.read_text(encoding="utf-8", errors="replace")[-2000:]

    def _take_answers(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in self._connection.makefile(encoding="utf-8"):
                answer: dict[str, Any] = json.loads(line)
                hears = self._hearing.get(answer["number"])
                if hears is not None:
                    hears.put(answer)
        self._ended = True
        for hears in list(self._hearing.values()):
            hears.put(None)

    def start(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        seconds: float | None = None,
        port: int | None = None,
    ) -> Started:
        """Start a command in the machine itself. seconds: its limit. port: show its TCP sockets at this port.

        Raises MachineError if the machine has ended.
        """
        number, hears = next(self._numbers), SimpleQueue[dict[str, Any] | None]()
        self._hearing[number] = hears
        asked = {"number": number, "command": list(command), "environment": dict(environment or {}), "seconds": seconds}
        self._ask({**asked, "port": port})
        if self._ended:
            hears.put(None)
        return Started(self, number, hears)

    def _ask(self, asked: dict[str, Any]) -> None:
        try:
            with self._lock:
                self._connection.sendall(json.dumps(asked).encode() + b"\n")
        except OSError as error:
            raise MachineError(f"the virtual machine has ended: {self.console_end()}") from error

    def forget(self, number: int) -> None:
        """Hear no more of what was started with this number."""
        self._hearing.pop(number, None)

    def end(self, number: int) -> None:
        """Kill what was started with this number, and all that it started. Raises MachineError."""
        self._ask({"number": number, "end": True})

    def run(
        self, command: Sequence[str], *, environment: Mapping[str, str] | None = None, seconds: float = 60.0
    ) -> Ended:
        """Run a command in the machine itself to its end. Raises MachineError if the machine does not answer."""
        started, said = self.start(command, environment=environment, seconds=seconds), ""
        for words in started.words(silence_seconds=seconds + 60):
            said += words.get("output", "")
            if "code" in words:
                return Ended(words["code"], said)
        raise MachineError(f"the virtual machine has ended: {self.console_end()}")

    def run_in_pod(
        self, pod: int, command: Sequence[str], *, environment: Mapping[str, str] | None = None, seconds: float = 60.0
    ) -> Ended:
        """Run a command as a container of a pod (guest/shared/pod says by which variables it has faults)."""
        return self.run([*in_pod(pod), *command], environment=environment, seconds=seconds)

    def cpu_seconds(self) -> float:
        """The processor time that the machine has taken so far."""
        fields = Path(f"/proc/{self._qemu.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
