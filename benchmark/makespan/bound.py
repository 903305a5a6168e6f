"""The least that a deployment can take: the longest chain of the latency table, over what a stack declares.

Resources and their dependencies are those of `tests/recordings`, or recorded likewise. Program and engine take no time,
so that a resource is made as soon as the last one is there that it depends on; what happens on machines follows from
`machines`. The validation's measurements take no time either, as no table has a figure for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import yaml
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.operators.charts import over
from aks_infiniband_cli.report.timeline import Span

from benchmark.makespan.deployments import Case, project
from benchmark.makespan.machines import MachineModel, gpu_pods, network_pods, pod_seconds, seconds
from declared.program import run
from declared.recording import document
from rehearsal.machines.pods.behaviours import ORDINARY, behaviour_of
from rehearsal.operators.plan import Document
from rehearsal.run.images import pull_seconds
from rehearsal.tools.paths import PROJECT

_RECORDINGS: Final = PROJECT / "tests" / "recordings" / "declared"
_CHARTS: Final = PROJECT / "rehearsal" / "charts"
_STEPS: Final = {
    "ManagedCluster": "cluster",
    **dict.fromkeys(
        ("ResourceGroup", "VirtualNetwork", "Subnet", "UserAssignedIdentity", "RoleAssignment"), "resource"
    ),
}
_OFFERS: Final = ("sharedRdmaDevices", "sriovDevices", "gpuDevices")
"""The resources that device plugins provide (rehearsal/machines/pods/behaviours.yaml)."""


def lower_bound(case: Case) -> list[Span]:
    """The parts of a deployment, each as early as can be, in seconds of the real thing."""
    as_recorded = case == Case(stack=case.stack, first=case.first)
    resources = _recorded(case.stack) if as_recorded else _declared(case)
    return Bound(resources=resources, first=case.first).spans()


@cache
def _recorded(stack: str) -> dict[str, Document]:
    return _made_by_providers(yaml.safe_load((_RECORDINGS / f"{stack}.yaml").read_text()))


@cache
def _declared(case: Case) -> dict[str, Document]:
    """Documents of deployments that are not recorded: the guides' order, and variants. The program is run as for a
    recording.
    """
    with TemporaryDirectory(prefix="declared-") as folder:
        return _made_by_providers(document(run(project(case, Path(folder) / "project"), case.stack)))


def _made_by_providers(recording: Mapping[str, Any]) -> dict[str, Document]:
    """By type and name."""
    rows = {_label(row["urn"]): row for row in recording["resources"]}
    return {label: row for label, row in rows.items() if "aks-infiniband:index:" not in label}


def _label(urn: str) -> str:
    types, _, name = urn.rpartition("::")
    return f"{types.rpartition('$')[2]}::{name}"


def _chart_values(chart: str, given: Mapping[str, Any]) -> dict[str, Any]:
    values = yaml.safe_load((_CHARTS / chart / "values.yaml").read_text())
    return over(values, given)


def _pulls_images(inputs: Document) -> bool:
    """True if it is a DaemonSet for nothing else, which nothing waits for."""
    return bool(inputs["metadata"]["labels"]["app.kubernetes.io/component"] == "images")


@dataclass(frozen=True, kw_only=True)
class Bound:
    """The resources of one stack, by type and name, as recorded."""

    resources: Mapping[str, Document]
    first: bool

    def spans(self) -> list[Span]:
        """Every resource, from its last dependency's end to its own."""
        return [
            Span(urn=label, start=self._start(label), end=self._end(label), waits_for=frozenset(self._waits_for(label)))
            for label in self.resources
        ]

    def _waits_for(self, label: str) -> list[str]:
        row = self.resources[label]
        named = [*row.get("dependencies", ()), *filter(None, [row.get("provider")])]
        return [name for name in named if name in self.resources]

    def _start(self, label: str) -> float:
        return max((self._end(other) for other in self._waits_for(label)), default=0.0)

    @cached_property
    def _ends(self) -> dict[str, float]:
        return {}

    def _end(self, label: str) -> float:
        if label not in self._ends:
            start = self._start(label)
            self._ends[label] = max(start, self._made(label, start))
        return self._ends[label]

    def _made(self, label: str, start: float) -> float:
        """The time at which a resource is there that is requested at a moment."""
        kind, inputs = label.split("::", maxsplit=1)[0].rsplit(":", 1)[-1], self.resources[label]["inputs"]
        match kind:
            case "NicClusterPolicy" | "NicNodePolicy":
                pods = self._made_of(label)
                return MachineModel(pods=pods).ready([pod for pod, _ in pods]) + seconds("operatorRequeue")
            case "ClusterPolicyPatch":
                look = seconds("operatorRequeue")
                # With no GPU in the cluster yet the operator is ready (rehearsal/operators/gpu/reconcile.py).
                return start + look if start < self._labelled else self._machine.ready(self._gpu_pods) + look
            case "Release":
                longest = max(pull_seconds(image) for image in self._operator_images(label))
                return start + longest + seconds("containerStart")
            case "DaemonSet":
                return start if _pulls_images(inputs) else start + pod_seconds(inputs["spec"]["template"])
            case "Job":
                container = seconds("containerStart")
                awaits = start + pod_seconds(inputs["spec"]["template"], there=self._pulled_before(start)) - container
                return max(awaits, self._offered) + container
        return start + sum(seconds(step) for step in self._steps(kind, inputs))

    def _steps(self, kind: str, inputs: Mapping[str, Any]) -> list[str]:
        """The latency table's steps of an Azure resource; none for one that a cluster takes at once."""
        if kind == "DeploymentAtSubscriptionScope":
            return ["resource", *(["featureRegistration"] if self.first else [])]
        if kind == "AgentPool":
            return ["infinibandPool" if inputs["vmSize"] in SIZES else "pool"]
        return [_STEPS[kind]] if kind in _STEPS else []

    def _of(self, kind: str) -> list[str]:
        return [label for label in self.resources if label.split("::")[0].endswith(f":{kind}")]

    def _operator_images(self, label: str) -> list[str]:
        chart = self.resources[label]["inputs"]["chart"]
        values = _chart_values(chart, self.resources[label]["inputs"]["values"])
        images = [f"{values['operator']['repository']}/{values['operator']['image']}"]
        return [*images, *([self._feature_discovery] if chart == "network-operator" else [])]

    @property
    def _feature_discovery(self) -> str:
        values = _chart_values("network-operator", {})
        return str(values["node-feature-discovery"]["image"]["repository"])

    @cached_property
    def _gpu_pods(self) -> list[Document]:
        releases = [self.resources[label]["inputs"] for label in self._of("Release")]
        values = [inputs["values"] for inputs in releases if inputs["chart"] == "gpu-operator"]
        return gpu_pods(_chart_values("gpu-operator", values[0])) if values else []

    def _pulled_before(self, moment: float) -> set[str]:
        """The images that were pulled for nothing else on the machines of the last pool."""
        images: set[str] = set()
        for label in filter(lambda label: _pulls_images(self.resources[label]["inputs"]), self._of("DaemonSet")):
            pod = self.resources[label]["inputs"]["spec"]["template"]
            if max(self._start(label), self._joined) + pod_seconds(pod) <= moment:
                images |= {container["image"] for container in pod["spec"]["initContainers"]}
        return images

    @cached_property
    def _joined(self) -> float:
        """When the machines of the last pool are there."""
        return max((self._end(pool) for pool in self._of("AgentPool")), default=0.0)

    @cached_property
    def _labelled(self) -> float:
        """When feature discovery has looked at them."""
        discovery = max(self._end(label) for label in self._of("Release") if "network-operator" in label)
        worker = self._joined + pull_seconds(self._feature_discovery) + seconds("containerStart")
        return max(worker, discovery) + seconds("featureDiscovery")

    def _made_of(self, policy: str) -> list[tuple[Document, float]]:
        """The pods that the Network Operator makes of a policy on a machine of the last pool, with their creation."""
        made = max(self._start(policy), self._labelled) + seconds("operatorRequeue")
        return [(pod, made) for pod in network_pods(self.resources[policy]["inputs"]["spec"])]

    @cached_property
    def _machine(self) -> MachineModel:
        """A machine of the last pool, with all its pods."""
        policies = [*self._of("NicClusterPolicy"), *self._of("NicNodePolicy")]
        released = [self._end(label) for label in self._of("Release") if "gpu-operator" in label]
        made = max([self._labelled, *released]) + seconds("operatorRequeue")
        network = [pod for policy in policies for pod in self._made_of(policy)]
        return MachineModel(pods=[*network, *((pod, made) for pod in self._gpu_pods)])

    @cached_property
    def _offered(self) -> float:
        """The time at which the machines of the last pool offer the resources that pods may request; every validation
        awaits that itself.
        """
        plugins = [pod for pod, _ in self._machine.pods if (behaviour_of(pod) or ORDINARY).provides in _OFFERS]
        return self._machine.ready(plugins)
