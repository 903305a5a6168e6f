"""A team's folder outside the checkout, with the wheels of this release, and what is typed there."""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import pytest

from rehearsal.tools.paths import PROJECT

SOURCES = ("components", "command_line", "rehearsal")


class Folder:
    """The team's folder, and what its commands said and took."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.programs: tuple[Path, ...] = ()
        """Further folders with programs, first on PATH."""

    def shell(self, commands: str) -> subprocess.CompletedProcess[str]:
        """Runs a block in one shell, as a person pastes it."""
        dropped = {"PYTHONPATH", "VIRTUAL_ENV"}
        environment = {key: value for key, value in os.environ.items() if key not in dropped}
        # kubectl is a program of a package that is lent; pip finds a lent package, and queries no registry.
        path = os.pathsep.join([*map(str, self.programs), environment["PATH"], str(Path(sys.executable).parent)])
        environment |= {"PATH": path, "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
        begun = time.monotonic()
        done = subprocess.run(
            ["bash", "-euc", commands], cwd=self.path, env=environment, check=False, capture_output=True, text=True
        )
        print(f"{time.monotonic() - begun:.0f} s: {commands.splitlines()[0]}")
        return done


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheels of this release."""
    place = tmp_path_factory.mktemp("release")
    left = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    for source in SOURCES:
        shutil.copytree(PROJECT / source, place / "sources" / source, ignore=left)
    pip = f"{sys.executable} -m pip --disable-pip-version-check wheel --quiet --no-deps --no-build-isolation"
    built = Folder(place).shell(f"{pip} --wheel-dir wheels {' '.join(f'sources/{source}' for source in SOURCES)}")
    assert built.returncode == 0, built.stderr
    return place / "wheels"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory, wheels: Path, language: object) -> Folder:
    """A folder outside the checkout for a team of each language, with the wheels and nothing else."""
    team = Folder(tmp_path_factory.mktemp("afternoon") / "weather")
    shutil.copytree(wheels, team.path / "wheels")
    return team


def install(folder: Folder, commands: str) -> None:
    """Run the page's installation. The wheels' dependencies are lent by this environment: no registry is queried."""
    environment, wheels, *rest = commands.splitlines()
    first = folder.shell(f"{environment}\n{wheels}")
    assert first.returncode == 0, first.stderr
    (packages,) = (folder.path / ".venv/lib").glob("python*/site-packages")
    # A folder that is added so lends its packages, but not its own .pth files: the checkout stays out of it.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    second = folder.shell("\n".join(rest))
    assert second.returncode == 0, second.stderr
