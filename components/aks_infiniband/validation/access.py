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
        self._opts = child_options(self, opts)
        labels = pool_labels(pool, "validate")
        metadata: Any = {"name": validation_name(pool), "namespace": namespace, "labels": labels}
        # Roles that reach beyond the namespace carry its name: two stacks may share a cluster.
        cluster_metadata: Any = {"name": f"{namespace}-{validation_name(pool)}", "labels": labels}
        subject: Any = {"kind": "ServiceAccount", "name": validation_name(pool), "namespace": namespace}
        k8s.core.v1.ServiceAccount(f"{name}-validate", metadata=metadata, opts=self._opts)
        self._config_maps(name, metadata, subject, [report_name(pool), rendezvous_name(pool)])
        self._nodes(name, cluster_metadata, subject)
        self.register_outputs({})

    def _nodes(self, name: str, metadata: Any, subject: Any) -> None:
        k8s.rbac.v1.ClusterRole(
            f"{name}-validate",
            metadata=metadata,
            rules=[{"api_groups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}],
            opts=self._opts,
        )
        k8s.rbac.v1.ClusterRoleBinding(
            f"{name}-validate",
            metadata=metadata,
            role_ref={"api_group": _RBAC, "kind": "ClusterRole", "name": metadata["name"]},
            subjects=[subject],
            opts=self._opts,
        )

    def _config_maps(self, name: str, metadata: Any, subject: Any, names: list[str]) -> None:
        k8s.rbac.v1.Role(
            f"{name}-validate",
            metadata=metadata,
            rules=[
                {
                    "api_groups": [""],
                    "resources": ["configmaps"],
                    "resource_names": names,
                    "verbs": ["get", "patch"],
                }
            ],
            opts=self._opts,
        )
        k8s.rbac.v1.RoleBinding(
            f"{name}-validate",
            metadata=metadata,
            role_ref={"api_group": _RBAC, "kind": "Role", "name": metadata["name"]},
            subjects=[subject],
            opts=self._opts,
        )
