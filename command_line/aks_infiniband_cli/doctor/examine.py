"""From a snapshot to the faults of the cluster: causes are reported, and their consequences are not."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aks_infiniband.diagnosis.view import Finding, name_of

from aks_infiniband_cli.doctor.catalogue import Symptom, catalogue
from aks_infiniband_cli.doctor.current_events import with_current_events
from aks_infiniband_cli.doctor.looks import (
    admission,
    controllers,
    device_plugins,
    gpus,
    lifecycle,
    network,
    nodes,
    pools,
    upkeep,
    workloads,
)
from aks_infiniband_cli.doctor.looks.operands import pools as pools_of
from aks_infiniband_cli.doctor.snapshot import Snapshot

Look = Callable[[Snapshot], Iterator[Finding]]

LOOKS: Final[Sequence[Look]] = (
    nodes.service,
    nodes.feature_labels,
    nodes.images,
    nodes.hardware,
    pools.machines,
    pools.upgrades,
    pools.taints,
    controllers.scaled_down,
    controllers.missing_operators,
    controllers.feature_discovery,
    controllers.missing_parts,
    controllers.missing_attachments,
    network.policies,
    network.placement,
    network.stale_wait,
    network.second_driver,
    network.daemon_sets,
    network.networks,
    network.unserved,
    device_plugins.configuration,
    device_plugins.logs,
    device_plugins.offered,
    device_plugins.renamed,
    gpus.owners,
    gpus.direct_rdma,
    admission.namespaces,
    admission.refusals,
    admission.jobs_without_pods,
    admission.webhooks,
    workloads.states,
    workloads.locked_memory,
    workloads.transport,
    workloads.validation,
    lifecycle.releases,
    lifecycle.terminating,
    lifecycle.definitions,
    lifecycle.versions,
    upkeep.images,
    upkeep.kubernetes,
    upkeep.managed,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """A symptom that an object of the cluster shows."""

    symptom: Symptom
    about: str
    """Kind and name of the object."""
    evidence: str
    """The finding, naming the object."""
    cause: str
    fix: str
    command: str | None
    """The next command to run, if the finding has one."""


def examine(snapshot: Snapshot, symptoms: Mapping[str, Symptom] | None = None) -> list[Diagnosis]:
    """Everything that is wrong with the cluster, in the order of the catalogue; each object shows a symptom once."""
    known, snapshot = symptoms or catalogue(), with_current_events(snapshot)
    findings: dict[tuple[str, str], Finding] = {}
    for look in LOOKS:
        for finding in look(snapshot):
            findings.setdefault((finding.symptom, finding.about), finding)
    order = list(known)
    told = sorted(_causes(list(findings.values()), snapshot, known), key=lambda finding: order.index(finding.symptom))
    return [_diagnosis(finding, known[finding.symptom], snapshot) for finding in told]


def _causes(findings: Sequence[Finding], snapshot: Snapshot, known: Mapping[str, Symptom]) -> list[Finding]:
    """The findings without those that follow from another one, on the same nodes or on all."""
    nodes_of = {finding.about: snapshot.nodes_of(finding.about) for finding in findings}

    def follows(finding: Finding) -> bool:
        there = nodes_of[finding.about]
        return any(
            finding.symptom in known[other.symptom].brings
            and (not there or not nodes_of[other.about] or there & nodes_of[other.about])
            for other in findings
        )

    return [finding for finding in findings if not follows(finding)]


def _diagnosis(finding: Finding, symptom: Symptom, snapshot: Snapshot) -> Diagnosis:
    """A finding's own cause says more than the catalogue's. Only the cause of a known message says more, because it
    also says what helps.
    """
    own = finding.cause if finding.cause and not finding.cause.startswith(symptom.cause) else None
    return Diagnosis(
        symptom=symptom,
        about=finding.about,
        evidence=finding.what,
        cause=own or symptom.cause,
        fix=_filled_in(finding.fix or symptom.fix, finding.about, snapshot),
        command=finding.command,
    )


def _filled_in(fix: str, about: str, snapshot: Snapshot) -> str:
    """The catalogue's NODE, NEIGHBOUR, NAMESPACE and NAME as those of the object that shows the symptom."""
    kind, _, name = about.partition(" ")
    namespace, _, name = name.rpartition("/")
    known = {"NAMESPACE": namespace or name, "NAME": name}
    if kind == "node":
        mates = [name_of(node) for nodes in pools_of(snapshot.view).values() for node in nodes]
        known |= {"NODE": name, "NEIGHBOUR": next((mate for mate in mates if mate != name), "its neighbour")}
    return _PLACES.sub(lambda place: known.get(place[0], place[0]), fix)


_PLACES: Final = re.compile(r"\b(NODE|NEIGHBOUR|NAMESPACE|NAME)\b")
