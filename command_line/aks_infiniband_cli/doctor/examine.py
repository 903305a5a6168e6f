"""From a snapshot to what is wrong with the cluster: causes are told, and what follows from them is not."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from aks_infiniband.diagnosis.view import Finding

from aks_infiniband_cli.doctor.catalogue import Symptom, catalogue
from aks_infiniband_cli.doctor.looks import device_plugins, gpus, lifecycle, network, nodes, workloads
from aks_infiniband_cli.doctor.snapshot import Snapshot

Look = Callable[[Snapshot], Iterator[Finding]]

LOOKS: Final[Sequence[Look]] = (
    nodes.service,
    nodes.feature_labels,
    nodes.images,
    nodes.hardware,
    network.policies,
    network.placement,
    network.second_driver,
    network.daemon_sets,
    network.networks,
    device_plugins.configuration,
    device_plugins.logs,
    device_plugins.offered,
    gpus.owners,
    gpus.direct_rdma,
    workloads.admission,
    workloads.states,
    workloads.locked_memory,
    workloads.transport,
    workloads.validation,
    lifecycle.releases,
    lifecycle.terminating,
    lifecycle.definitions,
    lifecycle.versions,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Diagnosis:
    """A symptom that an object of the cluster shows."""

    symptom: Symptom
    about: str
    """Kind and name of the object."""
    evidence: str
    """What was seen, naming the object."""
    cause: str
    fix: str
    command: str | None
    """The next thing to run, where the finding has one."""


def examine(snapshot: Snapshot, symptoms: Mapping[str, Symptom] | None = None) -> list[Diagnosis]:
    """Everything that is wrong with the cluster, in the order of the catalogue; each object shows a symptom once."""
    known = symptoms or catalogue()
    found: dict[tuple[str, str], Finding] = {}
    for look in LOOKS:
        for finding in look(snapshot):
            found.setdefault((finding.symptom, finding.about), finding)
    order = list(known)
    told = sorted(_causes(list(found.values()), snapshot, known), key=lambda finding: order.index(finding.symptom))
    return [_diagnosis(finding, known[finding.symptom]) for finding in told]


def _causes(findings: Sequence[Finding], snapshot: Snapshot, known: Mapping[str, Symptom]) -> list[Finding]:
    """The findings without those that another brings with it, on the same nodes or on all."""
    nodes_of = {finding.about: snapshot.nodes_of(finding.about) for finding in findings}

    def follows(finding: Finding) -> bool:
        there = nodes_of[finding.about]
        return any(
            finding.symptom in known[other.symptom].brings
            and (not there or not nodes_of[other.about] or there & nodes_of[other.about])
            for other in findings
        )

    return [finding for finding in findings if not follows(finding)]


def _diagnosis(finding: Finding, symptom: Symptom) -> Diagnosis:
    """A finding's own cause says more than the catalogue's, unless that is a message's, which says what helps too."""
    own = finding.cause if finding.cause and not finding.cause.startswith(symptom.cause) else None
    return Diagnosis(
        symptom=symptom,
        about=finding.about,
        evidence=finding.what,
        cause=own or symptom.cause,
        fix=symptom.fix,
        command=finding.command,
    )
