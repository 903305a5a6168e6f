"""Checks as people read them."""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, Final

from aks_infiniband.validation.explanation import passed, table
from aks_infiniband.validation.payload.say.checks import fails_update, make_check, verdict_of
from aks_infiniband.validation.payload.say.lines import lines_of

from tests.cases import Case

_USUAL: Final = {
    "name": "hca-rate",
    "verdict": "fail",
    "node": "n1",
    "device": "mlx5_ib2",
    "expected": 400,
    "measured": 200.0,
    "cause": "fewer lanes",
}


def outcome_of_checks(case: Case) -> dict[str, Any]:
    """The words on checks, each with its differences from a usual one. A name as `m0 to m9` stands for ten checks."""
    checks = [check for change in case["checks"] for check in _checks(change)]
    told = {
        "table": table(checks),
        "passed": passed(checks),
        "lines": lines_of(checks),
        "verdict": verdict_of(checks),
        "fails the update": fails_update(checks),
    }
    return {key: value for key, value in told.items() if value or value is False}


def _checks(change: Mapping[str, Any]) -> Iterator[Any]:
    values = [None if isinstance(made, str) else made for made in change.get("tries", ())]
    errors = [made if isinstance(made, str) else None for made in change.get("tries", ())]
    tries = [{"value": value, "error": error} for value, error in zip(values, errors, strict=True)]
    own = {**_USUAL, **change, **({"tries": tries} if tries else {})}
    for node, device in product(_names(own["node"]), _names(own["device"])):
        yield make_check(**{**own, "node": node, "device": device})


def _names(text: str | None) -> list[str | None]:
    """The names that a text stands for."""
    ends = re.fullmatch(r"(.*?)(\d+) to \1(\d+)", text or "")
    return [f"{ends[1]}{number}" for number in range(int(ends[2]), int(ends[3]) + 1)] if ends else [text]


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"words": outcome_of_checks}
