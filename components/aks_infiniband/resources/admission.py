"""Admission policies as the API server completes them.

Server-side apply owns `matchConstraints` and `matchResources` whole (`x-kubernetes-map-type: atomic`), and the server
fills in what they leave out. So an object that leaves something out is not what its maker has sent, and another manager
that sends the same is refused: an `up` after one that was killed while it made the object, or with a lost state, where
the Kubernetes provider takes another manager's name. What the server would add (Kubernetes API reference,
admissionregistration.k8s.io/v1, of 1.36) is written out here.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

_EVERYTHING: Final[Mapping[str, Any]] = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}


def match_constraints(*rules: Mapping[str, Any]) -> dict[str, Any]:
    """The matchConstraints of a policy: its rules hold in every namespace, for objects with any labels."""
    return {**_EVERYTHING, "resourceRules": [{**rule, "scope": "*"} for rule in rules]}


def match_resources(namespaces: Sequence[str]) -> dict[str, Any]:
    """The matchResources of a binding: objects in these namespaces.

    Raises ValueError if there is none: the selector would match every namespace, the system's too.
    """
    if not namespaces:
        raise ValueError("namespaces is empty: a policy would hold in every namespace; name at least one")
    where = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(namespaces)}
    return {**_EVERYTHING, "namespaceSelector": {"matchExpressions": [where]}}
