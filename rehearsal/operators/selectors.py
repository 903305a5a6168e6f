"""Label selectors as text (Kubernetes, "Labels and Selectors"), as policies carry them for drains."""

import re
from collections.abc import Mapping

_SET_BASED = re.compile(r"(\S+)\s+(in|notin)\s*\(([^)]*)\)")


def selects(selector: str, labels: Mapping[str, str]) -> bool:
    """True if labels meet every requirement of a selector; the empty one selects everything."""
    return all(_holds(requirement, labels) for requirement in _requirements(selector))


def _requirements(selector: str) -> list[str]:
    """The parts between the commas that are outside parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", selector) if part.strip()]


def _holds(requirement: str, labels: Mapping[str, str]) -> bool:
    if match := _SET_BASED.fullmatch(requirement):
        values = {value.strip() for value in match[3].split(",")}
        return (labels.get(match[1]) in values) == (match[2] == "in")
    if "!=" in requirement:
        key, _, value = requirement.partition("!=")
        return labels.get(key.strip()) != value.strip()
    if "=" in requirement:
        key, _, value = requirement.partition("=")
        return labels.get(key.strip()) == value.removeprefix("=").strip()
    if requirement.startswith("!"):
        return requirement[1:].strip() not in labels
    return requirement in labels
