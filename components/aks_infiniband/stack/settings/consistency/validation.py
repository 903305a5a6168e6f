"""Waits, the thresholds of the validation, the place of alerts, and namespaces of workloads."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from aks_infiniband.facts.baselines import FIGURES, GivenThreshold
from aks_infiniband.facts.modes import ACCESS
from aks_infiniband.handwritten.form import did_you_mean
from aks_infiniband.handwritten.section import Unreadable
from aks_infiniband.resources.namespaces import why_not_for_workloads
from aks_infiniband.stack.settings.mistakes import Mistake, Path, wrong
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known
from aks_infiniband.terminal import page
from aks_infiniband.workload.pods import NAMESPACE

LEAST_NODES: Final = 2
"""The least nodes of a pool whose nodes are measured before pods may come to them."""
_BESIDE_BURN_IN: Final = 600
"""Seconds for everything else, half of them to measure."""


def _waits(reading: Reading) -> Iterator[Mistake]:
    readiness = reading.settings.readiness
    waits = {"pollSeconds": lambda: readiness.poll_seconds, "stableSeconds": lambda: readiness.stable_seconds}
    for (key, _), seconds in known(waits.items(), lambda wait: wait[1]()):
        if seconds >= readiness.timeout_seconds:
            reason = f"must be less than timeoutSeconds, {readiness.timeout_seconds:g}"
            yield wrong(("readiness", key), seconds, reason)


def _thresholds(reading: Reading) -> Iterator[Mistake]:
    """A threshold names a known figure, gives at least one bound, and warns before it fails."""
    for figure, bounds in reading.settings.validation.thresholds.items():
        path = ("validation", "thresholds", figure)
        if figure not in FIGURES:
            hint = did_you_mean(figure, list(FIGURES))
            yield wrong(path, None, f"is no figure; {hint}known: {', '.join(FIGURES)}")
        with suppress(Unreadable):
            yield from _bounds(path, figure, bounds)


def _bounds(path: Path, figure: str, bounds: GivenThreshold) -> Iterator[Mistake]:
    if bounds.warn is None and bounds.fail is None:
        yield wrong(path, {}, "must give warn or fail, or both")
    elif figure in FIGURES and bounds.warn is not None and bounds.fail is not None:
        higher = FIGURES[figure].better == "higher"
        if (bounds.warn < bounds.fail) if higher else (bounds.warn > bounds.fail):
            side = "not be less than" if higher else "not be more than"
            yield wrong((*path, "warn"), bounds.warn, f"must {side} fail, {bounds.fail:g}: it fails first")


def _burn_in(reading: Reading) -> Iterator[Mistake]:
    """Half of a validation's time is for the pods to meet, and the other measurements need theirs."""
    validation = reading.settings.validation
    least = _BESIDE_BURN_IN + 2 * 60 * (validation.burn_in or 0)
    if validation.burn_in is not None and validation.mode == "off":
        yield wrong(("validation", "burnIn"), validation.burn_in, "says nothing with mode off; leave it out")
    elif validation.burn_in is not None and validation.timeout_seconds < least:
        reason = f"needs timeoutSeconds of {least} at least, which is {validation.timeout_seconds:g}"
        yield wrong(("validation", "burnIn"), validation.burn_in, reason)


def _workspace(reading: Reading) -> Iterator[Mistake]:
    watched, path = reading.settings.observability, ("observability", "workspaceId")
    if watched is None or watched.workspace_id is None:
        return
    if watched.prometheus != "azure":
        reason = "is for prometheus: azure; leave it out: kube-prometheus has the alerts anyway"
        yield wrong(path, watched.workspace_id, reason)
    elif not reading.in_azure:
        reason = f"is for a cluster that the program makes; leave it out, and see {page('observability')}"
        yield wrong(path, watched.workspace_id, reason)


def _namespaces(reading: Reading) -> Iterator[Mistake]:
    names, path = reading.settings.workload.namespaces, ("workload", "namespaces")
    for place, namespace in enumerate(names):
        if namespace == NAMESPACE:
            reason = "has the settings anyway: the program makes it; list other namespaces"
            yield wrong((*path, place), namespace, reason)
        elif system := why_not_for_workloads(namespace):
            yield wrong((*path, place), namespace, f"{system}; list namespaces of workloads")
        elif namespace in names[:place]:
            yield wrong((*path, place), namespace, "must be listed once")


def _created(reading: Reading) -> Iterator[Mistake]:
    workload = reading.settings.workload
    if workload.create_namespaces and not workload.namespaces:
        yield wrong(("workload", "createNamespaces"), True, "says nothing without namespaces; leave it out")


def _idle(pool: PoolReading) -> Iterator[Mistake]:
    """The scheduler gives the light check idle nodes by a resource or a claim of all HCAs."""
    if not pool.infiniband or pool.stack.settings.light_check is None:
        return
    if ACCESS[pool.facts.mode].privileged:
        reason = (
            "lacks a resource that shows which nodes are idle: remove aks-infiniband:lightCheck, or change the mode"
        )
        yield wrong(pool.path("mode"), pool.facts.mode, reason)


def _admission(pool: PoolReading) -> Iterator[Mistake]:
    """A node is admitted by the light check, which measures it with another one."""
    if not pool.infiniband or not pool.facts.is_gated:
        return
    admission = pool.facts.admission
    if pool.stack.settings.light_check is None:
        reason = "needs aks-infiniband:lightCheck, which measures a node before pods may come to it; set its schedule"
        yield wrong(pool.path("admission"), admission, reason)
    if pool.most_nodes < LEAST_NODES:
        reason = f"needs {LEAST_NODES} nodes, because a node is measured with another one; leave it out, or raise count"
        yield wrong(pool.path("admission"), admission, reason)


def _maintenance(pool: PoolReading) -> Iterator[Mistake]:
    """Pods leave a node only if new ones are kept off it."""
    if pool.infiniband and pool.facts.announces_maintenance and not pool.facts.is_gated:
        reason = "needs admission measured or measured-or-late, which keeps new pods off the node meanwhile; or keep"
        yield wrong(pool.path("maintenance"), pool.facts.maintenance, reason)


STACK = (_waits, _thresholds, _burn_in, _workspace, _namespaces, _created)
POOL = (_idle, _admission, _maintenance)
