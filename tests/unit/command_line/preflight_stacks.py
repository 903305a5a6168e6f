"""Stack files for the preflight."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.unit.command_line.logged_in import ROOT

H100, FAMILY = "Standard_ND96isr_H100_v5", "standardNDSH100v5Family"
Checked = Callable[..., tuple[int, dict[str, Any]]]


def stack(folder: Path, **changes: Any) -> list[str]:
    """The flags of a stack file like `dev`, with changes of its cluster or of its pool.

    gpuDirect is left out: sizes whose GPUs the program does not manage may not have it.
    """
    document = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    document["config"]["aks-infiniband:cluster"] |= changes.get("cluster", {})
    pool = document["config"]["aks-infiniband:pools"][0]
    del pool["gpuDirect"]
    pool |= changes.get("pool", {})
    document["config"] |= {key: value for key, value in changes.items() if ":" in key}
    (folder / "Pulumi.other.yaml").write_text(yaml.safe_dump(document))
    if not (folder / "values").exists():
        (folder / "values").symlink_to(ROOT / "values")
    return ["-s", "other", "--folder", str(folder)]
