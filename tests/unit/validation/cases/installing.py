"""Images that lack the programs of a measurement, and their package managers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.validation.payload.look.node import PROGRAMS
from aks_infiniband.validation.payload.programs.install import PACKAGES, ensure
from aks_infiniband.validation.payload.programs.process import Ended

from tests.cases import Case


class _Image:
    """An image with a package manager; apt-get as it was seen to behave (apt 2.6.1, Debian 12, 2026-11-22)."""

    def __init__(self, case: Case) -> None:
        self.manager = case.get("manager", "apt-get")
        self.programs = {*case.get("there", ()), self.manager}
        self.needs, self.holds, self.fails = case.get("needs", ""), case.get("holds", ""), case.get("fails")
        self.commands: list[str] = []

    def which(self, name: str) -> str | None:
        return f"/usr/bin/{name}" if name in self.programs else None

    def execute(self, command: Sequence[str], _: float) -> Ended:
        self.commands.append(" ".join(command))
        if self.fails:
            return Ended(self.manager, 1, "", self.fails)
        if "install" not in command:
            return Ended(self.manager, 0, "Reading package lists...\n", None)
        named = [word for word in command[command.index("install") + 1 :] if not word.startswith("-")]
        if self.holds in named and "--no-upgrade" not in command:
            return self._error(
                f"The following held packages will be changed:\n  {self.holds}",
                "E: Held packages were changed and -y was used without --allow-change-held-packages.",
            )
        if self.needs and self.needs == self.holds:
            unmet = f"The following packages have unmet dependencies:\n perftest : Depends: {self.needs} (= 44.0-2)"
            return self._error(unmet, "E: Unable to correct problems, you have held broken packages.")
        new = "".join(f"Inst {name} (44.0-2 Debian:12.15/oldstable [amd64])\n" for name in named if name != self.holds)
        new += f"Inst {self.needs} [39.0-1] (44.0-2 Debian:12.15/oldstable [amd64])\n" if self.needs else ""
        if "--simulate" not in command:
            assert not self.needs, "an upgrade of what the image has"
            self.programs |= {tool for tool, packages in PACKAGES[self.manager].items() if packages.split()[0] in named}
        return Ended(self.manager, 0, new, None)

    def _error(self, said: str, error: str) -> Ended:
        return Ended(self.manager, 100, f"{said}\n{error}\n", f"{self.manager} ended with code 100: {error}")


def outcome_of_image(case: Case) -> dict[str, Any]:
    """An image with a package `manager` and the programs that are `there`; all programs are `wanted` by default. needs:
    a package that perftest needs in a newer version; holds: one that apt does not replace; fails: an error.
    """
    image = _Image(case)
    tools = ensure(case.get("wanted", PROGRAMS), 5, which=image.which, execute=image.execute)
    told = {"missing": tools.missing, "installed": tools.installed, "error": tools.error, "commands": image.commands}
    return {key: value for key, value in told.items() if value}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"image": outcome_of_image}
