"""The engine's question to pip at every command, answered in an eighth of the time; all else goes to pip itself.

With `pip list -v --format json` the engine learns which packages bring a provider, and their folders. This lists only
those packages, from the folders in which they are installed; pip would first import half of itself.
"""

import json
import runpy
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PROVIDER = "pulumi-plugin.json"
"""The file by which a package says what its provider is."""


def provider_packages(folders: Iterable[str]) -> Iterator[dict[str, str]]:
    """Name, version and folder of each package in the folders that brings a provider."""
    for folder in folders:
        for information in Path(folder).glob("*.dist-info"):
            files = information / "RECORD"
            if files.is_file() and PROVIDER in files.read_text(encoding="utf-8"):
                name, _, version = information.stem.partition("-")
                yield {"name": name, "version": version, "location": folder}


if __name__ == "__main__":
    if sys.argv[1:] == ["list", "-v", "--format", "json"]:
        print(json.dumps(list(provider_packages(sys.path))))
    else:
        sys.path.remove(str(Path(__file__).parent))
        del sys.modules["__main__"]
        runpy.run_module("pip", run_name="__main__", alter_sys=True)
