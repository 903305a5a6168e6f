"""Pulumi.yaml, as far as a rehearsal needs it."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from aks_infiniband.handwritten import HandwrittenError, read

_PYTHON: Final = "python"
"""The language whose host `rehearsal tools` builds."""


class ProjectFileError(Exception):
    """A Pulumi.yaml that no engine can use here; the text holds the file and what is wrong."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectFile:
    """The content of a Pulumi.yaml."""

    path: Path
    name: str
    language: str
    """The runtime's name."""

    def require_host(self) -> None:
        """Raises ProjectFileError if the language's host is neither built here nor on the PATH."""
        host = f"pulumi-language-{self.language}"
        if self.language != _PYTHON and shutil.which(host) is None:
            on_path = f"PATH ({os.environ.get('PATH', '')}) has no {host}; it comes with the Pulumi CLI"
            raise ProjectFileError(f"{self.path}: runtime {self.language}, but {on_path}")


def read_project(folder: Path) -> ProjectFile:
    """The Pulumi.yaml of a folder. Raises ProjectFileError."""
    path = folder / "Pulumi.yaml"
    try:
        document = read(path)
    except HandwrittenError as error:
        raise ProjectFileError(f"{path} {error}") from error
    if not isinstance(document, dict):
        raise ProjectFileError(f"{path} must be a mapping with name and runtime")
    name, runtime = document.get("name"), document.get("runtime")
    language = runtime.get("name") if isinstance(runtime, dict) else runtime
    for key, value in (("name", name), ("runtime", language)):
        if not isinstance(value, str) or not value:
            raise ProjectFileError(f"{path}: {key} must be a text, not {value!r}")
    return ProjectFile(path=path, name=str(name), language=str(language))
