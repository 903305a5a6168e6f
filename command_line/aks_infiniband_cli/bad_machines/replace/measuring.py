"""A machine in quarantine is measured beside healthy ones of its pool, and judged by what its own pool reaches."""

from collections.abc import Sequence
from typing import Final

from aks_infiniband.validation.reports import Report, measured_text

from aks_infiniband_cli.bad_machines.replace.quarantine import TOLERATIONS
from aks_infiniband_cli.bad_machines.replace.sight import Sight
from aks_infiniband_cli.validate.deployed import expected_of
from aks_infiniband_cli.validate.documents import Run
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.run import Cluster, Measured, Say, measure

NEIGHBOURS: Final = 3
"""With three the nodes are four: every one is measured with two others, and in pools with GPUs in rounds of pairs."""


def measured(cluster: Cluster, sight: Sight, name: str, neighbours: Sequence[str], say: Say) -> Measured:
    """Measure a node with as many neighbours as there are, at most three. Raises CommandError."""
    by_name = {name_of(node): node for node in sight.of_pool()}
    beside = [by_name[neighbour] for neighbour in neighbours[:NEIGHBOURS]]
    run = Run(
        validation=sight.validation,
        nodes=[by_name[name], *beside],
        awaited=beside,  # the other one is cordoned; what it lacks was looked at
        expected=expected_of(sight.validation, 1 + len(beside), {}, pool_nodes=len(by_name)),
        before=sight.validation.accepted,
        tolerations=TOLERATIONS,
        by="replace",
    )
    return measure(cluster, [run], say)[sight.validation.pool]


def problems(report: Report, name: str) -> list[str] | None:
    """What is wrong with a node, in words; nothing is a sound one, None that the measurement tells nothing of it.

    A check that fails and names no node, or a figure that fell against what the pool was accepted with, is laid to this
    node's charge, unless another one is named: the others were healthy without it.
    """
    own = [check for check in report["checks"] if check["node"] == name]
    failed = [check for check in own if check["verdict"] == "fail"]
    if not failed and not any(check["node"] and check["verdict"] == "fail" for check in report["checks"]):
        failed = [
            check
            for check in report["checks"]
            if check["node"] is None and (check["verdict"] == "fail" or _fell(check["check"], check["verdict"]))
        ]
    if failed:
        return [f"{check['check']}{_at(check['device'])}: {measured_text(check)}" for check in failed]
    missed = [check for check in own if check["verdict"] == "not measured" and check["cause"]]
    return None if missed or name not in report["nodes"] else []


def _fell(check: str, verdict: str) -> bool:
    return check == "regression" and verdict == "warn"


def _at(device: str | None) -> str:
    return f" ({device})" if device else ""


def blamed(report: Report, name: str) -> list[str]:
    """Other nodes that fail a check."""
    failing = [check["node"] for check in report["checks"] if check["verdict"] == "fail" and check["node"]]
    return sorted({node for node in failing if node != name})
