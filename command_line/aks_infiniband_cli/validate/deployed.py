"""The validations that stacks have deployed: each pool's Job says how it is measured, and by what it is judged."""

import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.resources.metadata import DEPLOYERS, MANAGED_BY, labels
from aks_infiniband.resources.quantities import quantity
from aks_infiniband.validation.membership import Membership, membership
from aks_infiniband.validation.program import EXPECTATIONS_ANNOTATION
from aks_infiniband.validation.reports import ACCEPTED_KEY, Accepted, Promise, Report, accepted_of, report_in

Object = Mapping[str, Any]
Limits = Mapping[str, Mapping[str, float]]
"""By figure, the levels (warn, fail) that are given in place of the deployed ones."""

LABELS: Final[dict[str, Any]] = {**labels("validation", "validate"), MANAGED_BY: DEPLOYERS}
"""Labels of the Jobs that stacks and releases of the chart deploy; those of this command have another manager."""
_POOL: Final = "app.kubernetes.io/instance"


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """The validation of one pool."""

    pool: str
    namespace: str
    job: Object
    expected: Mapping[str, Any]
    """The expectations by which its pods judge."""
    accepted: Accepted | None
    """The figures with which the pool was accepted; None if it never passed."""
    report: Report | None = None
    """The last one that the stack has left in the cluster."""
    lasting: bool = True
    """True if a stack has left it. Otherwise it is made for one run, whose namespace goes with it."""

    @property
    def template(self) -> Object:
        """Template of its pods."""
        template: Object = self.job["spec"]["template"]
        return template

    @property
    def node_selector(self) -> Mapping[str, str]:
        """The labels of the pool's nodes."""
        selector: Mapping[str, str] = self.template["spec"]["nodeSelector"]
        return selector

    @property
    def resources(self) -> dict[str, str]:
        """The amounts of the device plugins' resources that each of its pods takes; empty without GPUs in the modes dra
        and driver-only.
        """
        limits = self.template["spec"]["containers"][0]["resources"]["limits"]
        return {name: quantity for name, quantity in limits.items() if "/" in name}

    @property
    def promise(self) -> Promise:
        """The resources and labels that each node of the pool has to have, whatever the number of nodes."""
        least = {name: int(quantity(amount)) for name, amount in self.resources.items()}
        return Promise(self.pool, 0, least, self.labels)

    @property
    def labels(self) -> dict[str, str]:
        """Labels that its pods await on every node."""
        flag, (awaiting,) = "--label=", self.template["spec"]["initContainers"]
        pairs = [
            argument.removeprefix(flag).partition("=") for argument in awaiting["args"] if argument.startswith(flag)
        ]
        return {key: value for key, _, value in pairs}


def deployed(jobs: Iterable[Object], config_maps: Iterable[Object]) -> dict[str, Deployed]:
    """The newest validation of each pool, by the pool's name; those of releases that made them otherwise, left out."""
    by_name = {(at["metadata"]["namespace"], at["metadata"]["name"]): at for at in config_maps}
    data = {name: config_map.get("data") or {} for name, config_map in by_name.items()}
    reports = {name: report_in(config_map) for name, config_map in by_name.items()}
    by_pool: dict[str, Deployed] = {}
    for job in sorted(jobs, key=lambda job: str(job["metadata"].get("creationTimestamp"))):
        metadata, template = job["metadata"], job["spec"]["template"]
        expected = (template["metadata"].get("annotations") or {}).get(EXPECTATIONS_ANNOTATION)
        if expected is None or len(template["spec"].get("initContainers") or ()) != 1:
            continue
        pool, namespace = metadata["labels"][_POOL], metadata["namespace"]
        board, common = (_argument(template, name) for name in ("--report", "--common"))
        accepted = accepted_of(data.get((namespace, board), {}).get(ACCEPTED_KEY))
        program = data.get((namespace, template["spec"]["serviceAccountName"]), {})
        shared = json.loads(program.get(PurePosixPath(common).name) or "{}")
        by_pool[pool] = Deployed(
            pool=pool,
            namespace=namespace,
            job=job,
            expected={**shared, **json.loads(expected)},
            accepted=accepted,
            report=reports.get((namespace, board)),
        )
    return dict(sorted(by_pool.items()))


def _argument(template: Object, name: str) -> str:
    """The value of an option that the pods are given; empty if they are not given it."""
    arguments = template["spec"]["containers"][0]["args"]
    return arguments[arguments.index(name) + 1] if name in arguments else ""


def members_of(validation: Deployed, present: Iterable[str]) -> Membership:
    """The nodes that the pool should have and those that it has, by name."""
    return membership(validation.pool, validation.expected["node_count"], present, validation.report)


def expected_of(
    validation: Deployed, node_count: int, given: Limits, *, pool_nodes: int | None = None
) -> dict[str, Any]:
    """The expectations for a number of nodes of the pool: the deployed ones, except the limits that are given.

    pool_nodes: how many the pool has; None: as many as the stack says.
    """
    expected = copy.deepcopy(dict(validation.expected))
    expected |= {"node_count": node_count, "pool_nodes": max(expected["node_count"], pool_nodes or 0)}
    for figure, levels in given.items():
        for bounds, key in _places(expected, figure):
            kind = FIGURES[figure]
            none = {"unit": kind.unit, "better": kind.better, "warn": None, "fail": None, "message_bytes": None}
            bounds[key] = {**(bounds.get(key) or none), **levels, "basis": "given", "source": "the command line"}
    return expected


def _places(expected: dict[str, Any], figure: str) -> list[tuple[dict[str, Any], str]]:
    """The places of a figure's limits; none if the pool lacks the figure."""
    collective = expected["collective"]
    if figure == "all-reduce":
        return [(collective["thresholds"], transport) for transport in collective["thresholds"]] if collective else []
    if figure == "all-reduce-small":
        return [(collective, "small")] if collective else []
    return [(expected["thresholds"], figure)] if figure in expected["figures"] else []
