"""Pools and options, as the cases of several families describe them."""

from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.releases import OPERATOR_RELEASES
from aks_infiniband.operators.release import DriverUpgrade, OperatorOptions
from aks_infiniband.resources.registry import Registry

from tests.cases import Case, changes, plain
from tests.some_pools import pool

_MADE: dict[str, Callable[[Any], Any]] = {
    "registry": lambda fields: Registry(**fields),
    "upgrade": lambda fields: DriverUpgrade(**fields),
    "release": OPERATOR_RELEASES.__getitem__,
    "addresses": IPv4Network,
    "gateway": IPv4Address,
}


def arguments(case: Case) -> dict[str, Any]:
    """Arguments of Python: lists are tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in case.items()}


def pools_of(case: Case, **usual: Any) -> list[Pool]:
    """The pools of a case, each with what differs from the usual one."""
    return [pool(**{**usual, **arguments(each)}) for each in case.get("pools", [{}])]


def options_of(case: Case) -> OperatorOptions:
    """The options of an operator."""
    return OperatorOptions(**made(case.get("options", {})))


def made(options: Case) -> dict[str, Any]:
    """Options with registries, upgrades and releases in place of their descriptions."""
    return {name: _MADE[name](value) if name in _MADE else value for name, value in options.items()}


def differing(family: Callable[[Case], Any], case: Case, *kept: str) -> Any:
    """The differences from the usual case. The usual case has at most the keys that are kept, and gives its whole
    document; a refusal gives its words.
    """
    usual = {key: case[key] for key in kept if key in case}
    shown = plain(family(case))
    return shown if case == usual or "refused" in shown else changes(plain(family(usual)), shown)
