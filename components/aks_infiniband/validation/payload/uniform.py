"""Whether all nodes of a pool run the same: image, kernel, drivers, firmware, tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .checks import Check, make_check


def judge_versions(facts_by_node: Mapping[str, Mapping[str, Any]]) -> list[Check]:
    """One check where everything is the same on every node, one for each thing that is not."""
    versions = {node: facts["versions"] for node, facts in sorted(facts_by_node.items())}
    asked = "the same on every node"
    names = sorted({name for of_node in versions.values() for name in of_node})
    checks = []
    for name in names:
        groups: dict[str, list[str]] = {}
        for node, of_node in versions.items():
            groups.setdefault(str(of_node.get(name)), []).append(node)
        if len(groups) > 1:
            measured = {value: ", ".join(nodes) for value, nodes in groups.items()}
            cause = (
                f"the nodes differ in {name}: an image or driver that is being rolled out, or nodes of different age"
            )
            checks.append(make_check("versions", "warn", device=name, expected=asked, measured=measured, cause=cause))
    if checks or not versions:
        return checks
    common = next(iter(versions.values()))
    return [make_check("versions", "pass", expected=asked, measured=common)]
