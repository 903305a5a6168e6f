"""Who may do what: the service account of the validation's pods, with the least they need."""

from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.options import child_options
from aks_infiniband.validation.job import pool_labels, rendezvous_name, report_name, validation_name

_RBAC: Final = "rbac.authorization.k8s.io"


class ValidationAccess(pulumi.ComponentResource):
    """The pods may read nodes, and may read and patch two ConfigMaps alone: the report, and the one they meet in."""

    def __init__(self, name: str, *, pool: Pool, namespace: str, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create account, roles and bindings for one pool."""
        super().__init__("aks-infiniband:index:ValidationAccess", name, None, opts)
        opts = child_options(self, opts)
        labels = pool_labels(pool, "validate")
        own: Any = {"name": validation_name(pool), "namespace": namespace, "labels": labels}
        # Roles that reach beyond the namespace carry its name: two stacks may share a cluster.
        of_cluster: Any = {"name": f"{namespace}-{validation_name(pool)}", "labels": labels}
        config_maps: Any = {
            "api_groups": [""],
            "resources": ["configmaps"],
            "resource_names": [report_name(pool), rendezvous_name(pool)],
            "verbs": ["get", "patch"],
        }
        nodes: Any = {"api_groups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}
        k8s.core.v1.ServiceAccount(f"{name}-validate", metadata=own, opts=opts)
        for role, binding, metadata, rule in (
            (k8s.rbac.v1.Role, k8s.rbac.v1.RoleBinding, own, config_maps),
            (k8s.rbac.v1.ClusterRole, k8s.rbac.v1.ClusterRoleBinding, of_cluster, nodes),
        ):
            role(f"{name}-validate", metadata=metadata, rules=[rule], opts=opts)
            binding(
                f"{name}-validate",
                metadata=metadata,
                role_ref={"api_group": _RBAC, "kind": role.__name__, "name": metadata["name"]},
                subjects=[{"kind": "ServiceAccount", "name": own["name"], "namespace": namespace}],
                opts=opts,
            )
        self.register_outputs({})
