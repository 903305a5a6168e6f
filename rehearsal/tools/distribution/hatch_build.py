"""Names the platform of the wheel: its programs are linked statically, for the processor that built them."""

import platform
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """hatchling's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag."""
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_2_17_{platform.machine()}"
