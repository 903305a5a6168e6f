"""Language hosts in addition to Python's, generators of packages, and a Node.js program's packages: made once a
machine.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from rehearsal.tools.on_demand import UnavailableError, built, made_for, once, run

__all__ = ["Language", "UnavailableError", "generators", "host", "node_modules"]

Language = Literal["yaml", "nodejs"]
PACKAGES: Final[Mapping[Language, str]] = {
    "yaml": "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    "nodejs": "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
}
"""The package of each host, of the module in this folder."""
GENERATED: Final = ("nodejs", "go", "python")
"""The languages whose generator is in the engine's own module; .NET's and Java's have separate modules."""
_HERE: Final = Path(__file__).parent


def host(language: Language) -> Path:
    """The folder with the host of a language, for the engine's PATH; built if need be. Raises UnavailableError."""
    return built("language", _HERE / language, {f"pulumi-language-{language}": PACKAGES[language]})


def generators() -> Path:
    """The folder with what generates packages in TypeScript, Go and Python, for the PATH of `pulumi package gen-sdk`.

    Built if need be. Raises UnavailableError.
    """
    first, *others = (f"pulumi-language-{language}" for language in GENERATED)
    return built("language", _HERE / "generators", {first: "."}, links=dict.fromkeys(others, first))


def node_modules(program: Path) -> Path:
    """The packages that the lock file of a Node.js program names; installed if need be. Raises UnavailableError."""
    files = [program / "package.json", program / "package-lock.json"]

    def install(draft: Path) -> None:
        for file in files:
            shutil.copy(file, draft)
        run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=draft, more={})

    return once(made_for("node", *files), install) / "node_modules"
