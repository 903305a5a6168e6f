"""The measurement of a machine in quarantine together with healthy ones of its pool, and its judgement by the figures
of that pool.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from aks_infiniband.validation.reports import Check, Report, measured_text

from aks_infiniband_cli.machine_by_machine.measuring import measured_together
from aks_infiniband_cli.machine_by_machine.replace.quarantine import TOLERATIONS
from aks_infiniband_cli.machine_by_machine.replace.sight import Sight
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.run import Cluster, Measured, Say

NEIGHBOURS: Final = 3
"""With three the nodes are four: every one is measured with two others, and in pools with GPUs in rounds of pairs."""


def measured(cluster: Cluster, sight: Sight, name: str, neighbours: Sequence[str], say: Say) -> Measured:
    """Measure a node with as many neighbours as there are, at most three. Raises CommandError."""
    by_name = {name_of(node): node for node in sight.of_pool()}
    others = [by_name[neighbour] for neighbour in neighbours[:NEIGHBOURS]]
    _, result = measured_together(
        cluster,
        sight.validation,
        nodes=[by_name[name], *others],
        awaited=others,  # the other one is cordoned; what it lacks was looked at
        pool_nodes=len(by_name),
        by="replace",
        say=say,
        tolerations=TOLERATIONS,
    )
    return result


def problems(report: Report, name: str) -> list[str] | None:
    """The faults of a node, in words; none for a sound one, None if the measurement says nothing about it.

    Only a check that names the node counts against it. A failure that names no node may be a tenant's load or another
    node's: it decides nothing, unless another node is named for it.
    """
    own = [check for check in report["checks"] if check["node"] == name]
    failed = [check for check in own if check["verdict"] == "fail"]
    if failed:
        return [f"{check['check']}{_at(check['device'])}: {measured_text(check)}" for check in failed]
    missed = [check for check in own if check["verdict"] == "not measured" and check["cause"]]
    return None if missed or name not in report["nodes"] or unblamed(report) else []


def unblamed(report: Report) -> str:
    """The shortfalls that name no node, in words; empty if another check names a node."""
    failing = [check for check in report["checks"] if check["verdict"] == "fail" or _fell(check)]
    if any(check["node"] for check in failing):
        return ""
    said = [f"{check['check']}: {measured_text(check)}" for check in failing]
    return f"it names no node: {'; '.join(said)}" if said else ""


def _fell(check: Check) -> bool:
    """True if a figure fell against the figure with which the pool was accepted."""
    return check["check"] == "regression" and check["verdict"] == "warn"


def missing(machine: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """The devices that a machine lacks by its own count, in words.

    machine: what `evidence` reads there. expected: what its pool is judged by. A list without a GPU proves nothing,
    because a broken one may keep nvidia-smi from answering.
    """
    lacking = []
    if "hcas" in machine and len(machine["hcas"]) < expected["hcas"]["count"]:
        lacking.append(f"{len(machine['hcas'])} of {expected['hcas']['count']} HCAs")
    gpus = (expected.get("gpus") or {}).get("count", 0)
    if 0 < len(machine.get("gpus") or ()) < gpus:
        lacking.append(f"{len(machine['gpus'])} of {gpus} GPUs")
    return lacking


def counted(machine: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """The count of a machine that lacks no device, in words. The arguments are those of `missing`."""
    if "hcas" not in machine:
        return "the machine itself does not report what it has"
    if (expected.get("gpus") or {}).get("count") and not machine.get("gpus"):
        return "the machine itself has all its HCAs, and lists no GPU, which proves nothing"
    return "the machine itself has all its devices"


def _at(device: str | None) -> str:
    return f" ({device})" if device else ""


def blamed(report: Report, name: str) -> list[str]:
    """Other nodes that fail a check."""
    failing = [check["node"] for check in report["checks"] if check["verdict"] == "fail" and check["node"]]
    return sorted({node for node in failing if node != name})
