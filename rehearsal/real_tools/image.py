"""Makes the virtual machine's kernel and initial RAM disk of the packages, once a machine."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from rehearsal.real_tools.packages import UnavailableError, unpack
from rehearsal.tools import cache

_HERE = Path(__file__).parent
_GUEST = _HERE / "guest"
SHARED = _GUEST / "shared"
"""The files that the machine takes from this checkout whenever it starts."""
MODULES = (
    *("virtio_pci", "virtio_net", "9p", "9pnet_virtio", "bridge", "veth", "crc32_generic"),
    *("rdma_rxe", "ib_umad", "ib_uverbs", "rdma_ucm"),
)
"""The modules that the kernel loads, in the order of their needs; Soft-RoCE requires crc32 by name."""
_LEFT_OUT = re.compile(
    r"(usr/)?(share/(doc|man|locale|lintian|bash-completion)|lib/modules|include|src)(/|$)|boot(/|$)"
    r"|usr/lib/python3\.\d+/(idlelib|lib2to3|pydoc_data|test|unittest)(/|$)"
)
LIBRARIES = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")
"""Folders of libraries, below a root folder."""
LATER = "later"
"""Folder of the guest with the root of the later tools."""


class Image(NamedTuple):
    """The files with which a virtual machine is started."""

    host: Path
    """Root folder of QEMU and its libraries."""
    kernel: Path
    disk: Path
    ticks: Path
    """Library with a function that counts the processor's clock."""


def image() -> Image:
    """The image, made if it is not there yet. Raises UnavailableError."""
    if not shutil.which("gcc"):
        raise UnavailableError("this machine lacks gcc, which compiles the library that bounds Soft-RoCE's retries")
    folder = cache.root() / f"real-tools-{_key()}"
    try:
        cache.own(cache.root())
    except (cache.CacheError, OSError) as error:
        raise UnavailableError(str(error)) from None
    with cache.alone(folder):
        if not folder.exists():
            draft = folder.with_suffix(".draft")
            shutil.rmtree(draft, ignore_errors=True)
            _make(draft)
            draft.rename(folder)
    return Image(folder / "host", folder / "vmlinuz", folder / "disk.cpio", folder / "ticks.so")


def _key() -> str:
    """A digest of everything that decides what the image is."""
    digest = hashlib.sha256()
    for path in (
        _HERE / "packages.txt",
        _HERE / "image.py",
        _GUEST / "init",
        _GUEST / "soft_roce.c",
        _GUEST / "ticks.c",
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _make(draft: Path) -> None:
    unpack(draft)
    guest, later = draft / "guest", draft / LATER
    (kernel,) = guest.glob("boot/vmlinuz-*")
    kernel.rename(draft / "vmlinuz")
    shutil.copy(_GUEST / "init", guest)
    (guest / "bin/sh").symlink_to("busybox")
    for folder in ("proc", "sys", "dev", "tmp", "run", "share", "root", "var/run"):
        (guest / folder).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "sbin", "lib", "lib64"):
        if not (later / name).exists():
            (later / name).symlink_to(f"usr/{name}")
    for folder in ("proc", "sys", "dev", "tmp"):
        (later / folder).mkdir(exist_ok=True)
    (guest / "aks-infiniband").mkdir()
    names = _copy_modules(guest, guest / "aks-infiniband/modules")
    (guest / "aks-infiniband/modules/order").write_text("".join(f"{name}\n" for name in names), encoding="ascii")
    _compile_python(guest)
    library = guest / "aks-infiniband/soft_roce.so"
    _compile(_GUEST / "soft_roce.c", draft / "headers/usr/include", library)
    shutil.copy(library, later)
    _compile(_GUEST / "ticks.c", draft / "headers/usr/include", draft / "ticks.so")
    with (draft / "disk.cpio").open("wb") as disk:
        _write(disk, {"": guest, LATER: later})
    for done in (guest, later, draft / "headers"):
        shutil.rmtree(done)


def _compile_python(guest: Path) -> None:
    """Compile Python's library by the guest's own Python: the packages lack bytecode, and pods write none.

    The archive lacks the times of its files, so that bytecode holds without them.
    """
    library_path = ":".join(str(guest / folder) for folder in LIBRARIES)
    loader = [str(guest / "lib64/ld-linux-x86-64.so.2"), "--library-path", library_path]
    python = [*loader, str(guest / "usr/bin/python3.11"), "-m", "compileall", "--invalidation-mode", "unchecked-hash"]
    command = [*python, "-q", "-s", str(guest), str(guest / "usr/lib/python3.11")]
    environment = {"PYTHONHOME": str(guest / "usr"), "PATH": os.environ["PATH"]}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    if ended.returncode:
        raise UnavailableError(f"Python's library could not be compiled: {ended.stdout[-500:]}{ended.stderr[-500:]}")


def _compile(source: Path, headers: Path, library: Path) -> None:
    command = ["gcc", "-shared", "-fPIC", "-O1", f"-I{headers}", str(source), "-o", str(library)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if ended.returncode:
        raise UnavailableError(f"{source.name} could not be compiled: {ended.stderr.strip()}")


def _copy_modules(guest: Path, folder: Path) -> list[str]:
    """Copy the kernel's modules with what they need; returns their names in the order in which they are loaded."""
    there = {path.stem.replace("-", "_"): path for path in (guest / "lib/modules").rglob("*.ko")}
    order: list[str] = []

    def add(name: str) -> None:
        if name in order or name not in there:  # what is not there is built in
            return
        match = re.search(rb"\0depends=([^\0]*)", there[name].read_bytes())
        for needed in match.group(1).decode().split(",") if match else ():
            add(needed.replace("-", "_"))
        order.append(name)

    folder.mkdir()
    for module in MODULES:
        add(module)
    for name in order:
        shutil.copy(there[name], folder / f"{name}.ko")
    return order


def _write(disk: IO[bytes], roots: dict[str, Path]) -> None:
    """Write the trees as a cpio archive (Linux, Documentation/driver-api/early-userspace/buffer-format.rst)."""
    for number, (name, path) in enumerate(_entries(roots), 1):
        facts = path.lstat() if path else None
        mode = facts.st_mode if facts else 0
        kind = stat.S_IFMT(mode)
        content = b""
        if path and kind == stat.S_IFLNK:
            content = os.fsencode(path.readlink())
        elif path and kind == stat.S_IFREG:
            content = path.read_bytes()
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        disk.write(head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4))


def _entries(roots: dict[str, Path]) -> Iterator[tuple[str, Path | None]]:
    """Yield each file with its name in the archive, folders first, and the archive's end."""
    for prefix, root in roots.items():
        for path in [*([root] if prefix else []), *sorted(root.rglob("*"))]:
            inside = str(path.relative_to(root))
            if not _LEFT_OUT.match(inside):
                yield str(Path(prefix) / inside), path
    yield "TRAILER!!!", None
