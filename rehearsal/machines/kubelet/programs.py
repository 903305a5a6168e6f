"""The programs that a container finds: the machine's simulated ones, and of this computer those that do no harm."""

import compileall
import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rehearsal.run.images import packages, programs_of, programs_of_scripts

_MACHINES: Final = Path(__file__).parents[1]
_PROGRAMS: Final = _MACHINES / "bin"
_DISTRIBUTION: Final = _MACHINES / "distribution"
"""Stand-ins for programs that only some images have: apt-get, which would change this computer, dcgmi, nslookup and
sleep.
"""
_PYTHON: Final = Path(sys.base_prefix) / f"bin/python{sys.version_info.major}.{sys.version_info.minor}"
_SHELLS: Final = ("sh", "bash")
# PATH of an ordinary image, so that what the machine's programs start in turn is found.
_IMAGE_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The programs that a container has: in most images all that there are, those of the folder bin and Python."""

    folders: tuple[Path, ...]
    image_path: str = _IMAGE_PATH
    """The container's further folders: on this computer."""
    shell: Path | None = None
    """The programs of a script, in an image of which nothing is known: it finds no others."""
    lacking: bool = False
    """True if the image has programs that are not here."""

    @classmethod
    def prepared(cls, folder: Path) -> "Programs":
        """Programs with Python linked into a folder: the interpreter alone, without this computer's packages."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("python3", "python"):
            link = folder / name
            link.unlink(missing_ok=True)
            link.symlink_to(_PYTHON)
        _leave_out_packages(folder)
        _compile_what_stands_in()
        shell = fresh_folder(folder.with_name("shell"))
        _link(programs_of_scripts(), shell)
        return cls(folders=(_PROGRAMS, folder), shell=shell)

    def of(self, image: str, container: Path, *, reachable: bool) -> "Programs":
        """The programs of an image, and in the container's folder those that its apt-get installs.

        reachable: whether the container reaches the distribution's packages.
        """
        names = programs_of(image)
        if names is None:
            return self
        folder, repository = fresh_folder(container / "bin"), fresh_folder(container / "packages")
        fresh_folder(container / "lib")
        _leave_out_packages(container)
        _link(names, folder)
        for package, files in packages().items() if reachable else ():
            for file in files:
                link = repository / package / file
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(self.resolve(link.name) or "/dev/null")
        return Programs(folders=(folder,), image_path="")

    def running(self, command: str) -> "Programs":
        """The programs that a container with this command finds: if it is a script of an unknown image, a script's."""
        if self.shell is None or self.resolve(command) or Path(command).name not in _SHELLS:
            return self
        return Programs(folders=(_PROGRAMS, self.shell), image_path="", lacking=True)

    def resolve(self, command: str) -> Path | None:
        """The program that a container's command means, or None if a simulated machine does not have it."""
        name = Path(command).name
        files = (folder / name for folder in self.folders if (folder / name).is_file())
        return next((path for path in files if os.access(path, os.X_OK)), None)

    def search_path(self, given: str | None) -> str:
        """PATH of a container: the machine's programs, then the container's own."""
        return ":".join(filter(None, [*map(str, self.folders), given or self.image_path]))


def _leave_out_packages(folder: Path) -> None:
    """Have a Python whose link is in a folder, or one below, know no packages of this computer: no image has them, and
    each process would look at them when it starts.
    """
    alone = f"home = {_PYTHON.parent}\ninclude-system-site-packages = false\n"
    (folder / "pyvenv.cfg").write_text(alone, encoding="utf-8")


def _compile_what_stands_in() -> None:
    """Compile simulated libraries and tools: a validation starts a thousand processes, and none may write bytecode."""
    for folder in (_MACHINES, _MACHINES.parent / "faults"):
        compileall.compile_dir(folder, quiet=2)


def _link(names: Iterable[str], folder: Path) -> None:
    """Put programs of a distribution into a folder: links to this computer's, or to what stands in for them."""
    for name in names:
        if program := shutil.which(name, path=f"{_DISTRIBUTION}:{_IMAGE_PATH}"):
            (folder / name).symlink_to(program)


def fresh_folder(path: Path) -> Path:
    """An empty folder at this path."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
