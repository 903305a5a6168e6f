"""The labels that everything we create in a cluster carries, and the names of our namespaces."""

from typing import Final

NETWORK_OPERATOR_NAMESPACE: Final = "network-operator"
GPU_OPERATOR_NAMESPACE: Final = "gpu-operator"
AMD_GPU_OPERATOR_NAMESPACE: Final = "kube-amd-gpu"
"""As in AMD's documentation."""
CERT_MANAGER_NAMESPACE: Final = "cert-manager"
OPERATOR_NAMESPACES: Final = (NETWORK_OPERATOR_NAMESPACE, GPU_OPERATOR_NAMESPACE, AMD_GPU_OPERATOR_NAMESPACE)
"""Namespaces of operators that run pods on the pools' nodes."""
SYSTEM_NAMESPACE: Final = "aks-infiniband-system"
"""Namespace of validation, node preparation and the pull secret. Workloads do not belong there: a user who may run pods
there is an administrator of every node.
"""

PRIVILEGED: Final = {"pod-security.kubernetes.io/enforce": "privileged"}
"""Label of a namespace that admits what the lower Pod Security levels refuse: the operators' driver containers, which
load kernel modules, and the capability IPC_LOCK."""


STACK: Final = "aks-infiniband/stack"
"""Annotation of everything that we create: project and stack. In a stack's cluster our own namespace is the first that
is made and the last that is deleted, so there it says whose the cluster is."""
PART_OF: Final = {"app.kubernetes.io/part-of": "aks-infiniband"}
"""Label of everything that we create."""

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
"""Label that says who keeps an object."""
DEPLOYERS: Final = ("pulumi", "Helm")
"""The keepers of validations that last: a stack, or a release of the chart."""


def labels(name: str, component: str) -> dict[str, str]:
    """The recommended labels of Kubernetes.

    name: what the object is, such as network-operator.
    component: the part it plays, such as driver, policy or validation.
    """
    return {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/component": component,
        **PART_OF,
        MANAGED_BY: DEPLOYERS[0],
    }
