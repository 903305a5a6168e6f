"""A Job's traps for the stand-in of the kubelet, which is not confined: it follows no link that a pod made."""

import asyncio
import os
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from rehearsal.machines.hardware.sysfs import write_files
from rehearsal.machines.kubelet import landlock
from rehearsal.machines.kubelet.containers import Confinement, ContainerProcess, ContainerStart
from rehearsal.machines.kubelet.environment import InvalidReferenceError, References
from rehearsal.machines.kubelet.volumes import write_volume

KEY = "the person's key\n"
needs_landlock = pytest.mark.skipif(landlock.version() == 0, reason="this kernel has no Landlock")
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities, and makes devices")


class Place:
    """A run folder with one container, and a file of the person next to it."""

    def __init__(self, folder: Path) -> None:
        self.run, self.own = folder / "run", folder / "home"
        self.container, self.volume, self.machine = (self.run / name for name in ("container", "volume", "machine"))
        for made in (self.container, self.volume, self.machine, self.own):
            made.mkdir(parents=True)
        self.key = self.own / "id_ed25519"
        self.key.write_text(KEY)
        self.key.chmod(0o600)

    def message(self, script: str, code: int = 0) -> str:
        """The kubelet's message of a container that runs a shell script."""
        start = ContainerStart(
            command=None,
            environment={"PATH": os.environ["PATH"], "KEY": str(self.key), "OWN": str(self.own)},
            folder=self.container,
            message_file=self.container / "termination-log",
            memlock=None,
            confinement=Confinement(reads=(self.volume,), writes=(self.container,), port=1),
        )

        async def run() -> str:
            command, log = ["sh", "-c", f"{script}\nexit {code}"], self.run / "log"
            process = await ContainerProcess.start(command, start, log=log, fall_back_to_log=True)
            return process.message(await process.exit_code())

        return asyncio.run(asyncio.wait_for(run(), 60))

    def is_untouched(self) -> bool:
        """True if the person's folder is as it was."""
        return self.key.read_text() == KEY and [path.name for path in self.own.iterdir()] == [self.key.name]


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    "script",
    [
        "rm termination-log; ln -s $KEY termination-log",
        "rm termination-log; mkfifo termination-log",
        "rm termination-log; mkdir termination-log",
        "rm termination-log; ln $KEY termination-log",
        "rm termination-log; ln -s /dev/zero termination-log",
        "rm termination-log",
        "chmod 0 termination-log",
    ],
)
def test_what_takes_the_place_of_the_message_is_not_opened(place: Place, script: str) -> None:
    assert place.message(script) == ""
    assert place.is_untouched()


def test_of_a_message_of_ten_gigabytes_the_end_is_read(place: Place) -> None:
    message = place.message("truncate -s 10G termination-log; printf 'the end' >> termination-log")
    assert (len(message), message.strip("\0")) == (4096, "the end")


def test_of_a_long_log_the_end_is_the_message_of_a_failure(place: Place) -> None:
    message = place.message("head -c 50000000 /dev/zero; echo; echo why", code=3)
    assert len(message) <= 2048
    assert message.endswith("\nwhy\n")


def test_a_machines_files_are_not_written_through_links(place: Place) -> None:
    files = {"dev/infiniband/uverbs0": "", "sys/class/net/eth0/type": "1", "id_ed25519": "overwritten"}
    (place.machine / "dev").symlink_to(place.own)
    (place.machine / "sys/class").mkdir(parents=True)
    (place.machine / "sys/class/net").symlink_to(place.own)
    (place.machine / "id_ed25519").symlink_to(place.key)
    os.mkfifo(place.machine / "sys/class/pipe")
    write_files(place.machine, files | {"sys/class/pipe": "no pipe"})
    assert place.is_untouched()
    assert {path: (place.machine / path).read_text() for path in files} == {k: f"{v}\n" for k, v in files.items()}
    assert stat.S_ISREG((place.machine / "sys/class/pipe").lstat().st_mode)


def test_a_folder_that_becomes_a_link_at_any_moment_leads_nowhere(place: Place) -> None:
    """A Job swaps a folder for a link, over and over, while the kubelet writes there."""
    done, dev, aside = threading.Event(), place.machine / "dev", place.machine / "aside"

    def swap() -> None:
        while not done.is_set():
            for step in (
                lambda: dev.rename(aside),
                lambda: dev.symlink_to(place.own),
                dev.unlink,
                lambda: aside.rename(dev),
            ):
                with suppress(OSError):
                    step()

    swapper, written = threading.Thread(target=swap), 0
    swapper.start()
    for _ in range(1000):
        with suppress(OSError):
            write_files(place.machine, {"dev/infiniband/uverbs0": "", "dev/id_ed25519": "overwritten"})
            written += 1
    done.set()
    swapper.join()
    assert written
    assert place.is_untouched()


@pytest.mark.parametrize("kind", ["", "Directory", "File", "FileOrCreate", "DirectoryOrCreate"])
@pytest.mark.parametrize("path", ["/host/id_ed25519", "/host/made", "/host"])
def test_a_volume_of_the_machine_leads_over_no_link(place: Place, path: str, kind: str) -> None:
    (place.machine / "host").symlink_to(place.own)
    volume = {"name": "v", "hostPath": {"path": path, "type": kind}}
    references = References(
        config_map=lambda _: None, secret=lambda _: None, pod={}, allocatable={}, pod_ip="", host_ip="", kernel=""
    )

    async def token(_: object) -> str:
        return ""

    with pytest.raises(InvalidReferenceError, match=rf"hostPath {path}: .* \(links on a simulated machine"):
        asyncio.run(write_volume(volume, place.volume, place.machine, references, token))
    assert place.is_untouched()


@needs_landlock
@needs_root
def test_a_container_of_root_makes_no_device_and_has_no_power_over_this_computer(place: Place) -> None:
    said = place.message(
        "mknod disk b 8 0 && echo device; mknod mem c 1 1 && echo device; chown 1 . || echo owner;"
        "mount -t tmpfs none . 2>/dev/null && echo mount; chroot / true 2>/dev/null && echo chroot;"
        "while read line; do case $line in CapEff*) echo $line;; esac; done < /proc/self/status",
        code=1,
    )
    assert "device" not in said.replace("disk", "")
    assert "mount" not in said
    assert "chroot" not in said
    assert said.endswith("CapEff: 00000000000000fb\n"), said


@needs_landlock
def test_a_container_writes_in_no_other_container_and_no_volume_that_is_not_scratch(place: Place) -> None:
    assert place.message("echo a > ../volume/a && echo done; echo b > ../other", code=1).count("done") == 0
    assert sorted(path.name for path in place.run.iterdir()) == ["container", "log", "machine", "volume"]
