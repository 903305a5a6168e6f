"""Admission policies as the API server completes them.

Server-side apply owns `matchConstraints` and `matchResources` whole (`x-kubernetes-map-type: atomic`), and the server
fills in what they leave out. So an object that leaves something out differs from its maker's request, and another
manager that sends the same is refused: an `up` after one that was killed while it made the object, or with a lost
state, because the Kubernetes provider then takes another manager's name. The values that the server would add
(Kubernetes API reference, admissionregistration.k8s.io/v1, of 1.36) are written out here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

_EVERYTHING: Final[Mapping[str, Any]] = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_NODE_CLAIM: Final = "authentication.kubernetes.io/node-name"
"""The API server's knowledge of a token that a kubelet has fetched for a pod: the pod's node since 1.30, unless the
feature gate ServiceAccountTokenPodNodeInfo is off, and always since 1.32 (kubernetes/kubernetes,
pkg/features/kube_features.go, read 2026-11-28).
"""
NODE: Final[Mapping[str, str]] = {
    "name": "node",
    "expression": f"request.userInfo.extra[?'{_NODE_CLAIM}'][0].orValue('')",
}
"""A policy's variable: the node of the pod whose token sends the request; empty, which cannot be a node's name, for a
token without a pod, and for every token of an API server that does not say it. A rule that compares with it then
refuses.
"""
METADATA_STAYS: Final = (
    "['annotations', 'finalizers', 'labels', 'ownerReferences'].all(k, object.metadata[?k] == oldObject.metadata[?k])"
)
"""A rule in CEL: a change leaves the metadata that people and controllers write."""


def match_constraints(*rules: Mapping[str, Any]) -> dict[str, Any]:
    """The matchConstraints of a policy: its rules hold in every namespace, for objects with any labels."""
    return {**_EVERYTHING, "resourceRules": [{**rule, "scope": "*"} for rule in rules]}


def of_account(namespace: str, name: str) -> list[dict[str, str]]:
    """The matchConditions of a policy that concerns one service account alone."""
    account = f"system:serviceaccount:{namespace}:{name}"
    return [{"name": "account", "expression": f"request.userInfo.username == '{account}'"}]


def limit(
    who: str, accounts: Sequence[Mapping[str, str]], rule: Mapping[str, Any], validations: Mapping[str, str]
) -> dict[str, Any]:
    """The spec of a ValidatingAdmissionPolicy that holds an account to what it is for.

    who: in its messages. validations: the rules in CEL, by the message if one is broken.
    """
    return {
        "failurePolicy": "Fail",
        "matchConstraints": match_constraints(rule),
        "matchConditions": [dict(account) for account in accounts],
        "variables": [dict(NODE)],
        "validations": [
            {"expression": expression, "message": f"{who} {what}"} for what, expression in validations.items()
        ],
    }


def match_resources(namespaces: Sequence[str]) -> dict[str, Any]:
    """The matchResources of a binding: objects in these namespaces.

    Raises ValueError if there is none: the selector would match every namespace, the system's too.
    """
    if not namespaces:
        raise ValueError("namespaces is empty: a policy would hold in every namespace; name at least one")
    where = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(namespaces)}
    return {**_EVERYTHING, "namespaceSelector": {"matchExpressions": [where]}}


def bound_policies(
    name: str, metadata: Mapping[str, Any], specs: Mapping[str, Any], opts: pulumi.ResourceOptions
) -> list[pulumi.Resource]:
    """Policies that refuse in every namespace what their rules refuse, each with its binding.

    name: of the resources in the program. metadata: of the objects. specs: by what both names end in.
    """
    admission, made = k8s.admissionregistration.v1, list[pulumi.Resource]()
    for end, spec in specs.items():
        own: Any = {**metadata, "name": f"{metadata['name']}{end}"}
        binding: Any = {"policy_name": own["name"], "validation_actions": ["Deny"]}
        made += [
            admission.ValidatingAdmissionPolicy(f"{name}{end}", metadata=own, spec=spec, opts=opts),
            admission.ValidatingAdmissionPolicyBinding(f"{name}{end}", metadata=own, spec=binding, opts=opts),
        ]
    return made
