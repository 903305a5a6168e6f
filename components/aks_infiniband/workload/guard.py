"""The guard of workloads' namespaces: it refuses all that Pod Security's baseline refuses, except IPC_LOCK."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.facts.tables import table
from aks_infiniband.resources.admission import match_constraints, match_resources
from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.namespaces import require_for_workloads
from aks_infiniband.resources.options import child_options
from aks_infiniband.workload.pods import NAMESPACE

_NAME: Final = "aks-infiniband-workloads"
_RULES: Final = table(__package__, "guard.yaml")


def policy_spec() -> dict[str, Any]:
    """The spec of a ValidatingAdmissionPolicy (Kubernetes 1.30 and later), with the rules of `baseline` in 1.34."""
    lists = {name: values for name, values in _RULES.items() if isinstance(values, list)}
    in_words = {name: ", ".join(values) for name, values in lists.items()}
    return {
        "failurePolicy": "Fail",
        "matchConstraints": match_constraints(
            *(
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": [operation], "resources": [resource]}
                for operation, resource in (("CREATE", "pods"), ("UPDATE", "pods/ephemeralcontainers"))
            )
        ),
        "variables": [{"name": name, "expression": expression} for name, expression in _RULES["variables"].items()],
        "validations": [
            {
                "expression": rule.format_map(lists),  # a list is written in CEL as in Python
                "message": f"a namespace of RDMA workloads refuses {what.format_map(in_words)}",
            }
            for what, rule in _RULES["rules"].items()
        ],
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadGuardArgs:
    """The arguments of a WorkloadGuard."""

    namespaces: Sequence[Annotated[str, rules.namespace]] = (NAMESPACE,)
    """The namespaces that it guards. None of the system's or an operator's, whose pods it would refuse. Default:
    aks-infiniband."""
    name: str = _NAME
    """Name of the policy and of its binding in the cluster."""

    def __post_init__(self) -> None:
        """Raises ValueError if a namespace is the system's, an operator's or our own, and if there is none."""
        keep_rules(self)
        require_for_workloads(self.namespaces)
        match_resources(self.namespaces)


class WorkloadGuard(pulumi.ComponentResource):
    """Keeps every user who may edit workloads from becoming the machines' administrator.

    RDMA workloads add IPC_LOCK, which of Pod Security's levels only `privileged` admits; this refuses the rest of what
    that level admits. Not for pools of mode driver-only, whose pods are privileged.
    """

    def __init__(self, name: str, *, args: WorkloadGuardArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:WorkloadGuard", name, None, opts)
        options = child_options(self, opts)
        metadata: Any = {"name": args.name, "labels": labels("workload-guard", "workload")}
        spec: Any = policy_spec()
        policy = k8s.admissionregistration.v1.ValidatingAdmissionPolicy(
            name, metadata=metadata, spec=spec, opts=options
        )
        binding: Any = {
            "policyName": args.name,
            "validationActions": ["Deny"],
            "matchResources": match_resources(args.namespaces),
        }
        k8s.admissionregistration.v1.ValidatingAdmissionPolicyBinding(
            name, metadata=metadata, spec=binding, opts=child_options(self, opts, depends_on=[policy])
        )
        self.register_outputs({})
