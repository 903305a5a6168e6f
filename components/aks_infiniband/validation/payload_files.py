"""The payload's source files, as they go into a ConfigMap."""

from importlib import resources

PACKAGE = "payload"
"""Name under which the payload is imported inside the pods."""


def payload_files() -> dict[str, str]:
    """File name to source text of every module of the payload."""
    folder = resources.files("aks_infiniband.validation").joinpath(PACKAGE)
    return {
        entry.name: entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".py")
    }
