"""The component of the scheduled check, once for all pools of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.rules import namespace, schedule
from aks_infiniband.light_check.documents import (
    NAME,
    PRIORITY,
    boards,
    cron_job_spec,
    exporter_spec,
    policies,
    pool_labels,
    report_name,
    rules,
)
from aks_infiniband.resources.admission import bound_policies
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE, labels
from aks_infiniband.resources.namespaces import why_not_ours
from aks_infiniband.resources.options import child_options
from aks_infiniband.resources.registry import SOURCES, Registry
from aks_infiniband.validation.host_counters import Unread
from aks_infiniband.validation.program import program
from aks_infiniband.validation.reports import board_names

_RBAC: Final = "rbac.authorization.k8s.io"


@dataclass(frozen=True, kw_only=True, slots=True)
class LightCheckArgs:
    """What a LightCheck takes."""

    pools: Sequence[Pool]
    """The pools that are checked; none in mode driver-only, where no resource tells which node is idle."""
    schedule: Annotated[str, schedule]
    """When, in cron's five fields, by the control plane's clock: UTC on AKS."""
    thresholds: Mapping[str, GivenThreshold] = field(default_factory=dict)
    """Bounds that replace the catalogue's, by figure; rdma-write-bandwidth is measured."""
    error_counters: Unread = "warn"
    """What happens to a node whose ports' error counters cannot be read: enforce fails it, warn reports it, off does
    not look.
    """
    namespace: Annotated[str, namespace] = SYSTEM_NAMESPACE
    """Namespace of all that the check makes; it has to exist. No workload belongs there."""
    registry: Registry = SOURCES
    """Where images come from. Default: from where their makers publish them."""

    def __post_init__(self) -> None:
        """Raises ValueError for no schedule, and for no namespace of this program's."""
        keep_rules(self)
        if reason := why_not_ours(self.namespace):
            raise ValueError(f"namespace is {self.namespace}; it {reason}")


class LightCheck(pulumi.ComponentResource):
    """Looks at idle nodes on a schedule: links, error counters, and the bandwidth of RDMA writes between them.

    What it finds is in a ConfigMap for each pool, in the nodes' condition InfiniBandHealthy and their Events, and in
    the metrics of an exporter. It cordons nothing. A workload takes a node from it at once.
    """

    def __init__(self, name: str, *, args: LightCheckArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:LightCheck", name, None, opts)
        self._name, self._args, self._opts = name, args, opts
        options = child_options(self, opts)
        payload = k8s.core.v1.ConfigMap(
            f"{name}-payload", metadata=self._own("check"), data=program(light_check=True), opts=options
        )
        needed = [payload, *self._rights()]
        filled = child_options(self, opts, ignore_changes=["data", "binaryData"])
        for pool in args.pools:
            own: Any = {"name": report_name(pool), "namespace": args.namespace, "labels": pool_labels(pool)}
            spec: Any = cron_job_spec(
                pool,
                schedule=args.schedule,
                namespace=args.namespace,
                given=args.thresholds,
                registry=args.registry,
                error_counters=args.error_counters,
            )
            meeting: list[pulumi.Resource] = []
            for resource, board in zip(board_names(f"{name}-{pool.name}", pool.node_count), boards(pool), strict=True):
                named: Any = {**own, "name": board}
                meeting.append(k8s.core.v1.ConfigMap(resource, metadata=named, opts=filled))
            after = child_options(self, opts, depends_on=[*needed, *meeting])
            k8s.batch.v1.CronJob(f"{name}-{pool.name}", metadata=own, spec=spec, opts=after)
        after = child_options(self, opts, depends_on=needed)
        exporter: Any = exporter_spec(args.pools, args.registry)
        k8s.apps.v1.Deployment(f"{name}-exporter", metadata=self._own("exporter"), spec=exporter, opts=after)
        self.register_outputs({})

    def _own(self, component: str) -> Any:
        return {"name": NAME, "namespace": self._args.namespace, "labels": labels(NAME, component)}

    def _rights(self) -> list[pulumi.Resource]:
        """The account with its roles, what holds it to its use, and the priority of its pods."""
        namespace, name, options = self._args.namespace, self._name, child_options(self, self._opts)
        # What is not in our namespace carries its name: two stacks may share a cluster.
        elsewhere: Any = {"name": f"{namespace}-{NAME}", "labels": labels(NAME, "check")}
        account = k8s.core.v1.ServiceAccount(
            name, metadata=self._own("check"), automount_service_account_token=False, opts=options
        )
        priority = k8s.scheduling.v1.PriorityClass(
            name, metadata=elsewhere, value=PRIORITY, preemption_policy="Never", opts=options
        )
        # Rights are given after the policies that limit them, and taken away before them.
        limits = bound_policies(name, elsewhere, policies(namespace), options)
        limited = child_options(self, self._opts, depends_on=limits)
        made: list[pulumi.Resource] = [account, priority]
        subject = {"kind": "ServiceAccount", "name": NAME, "namespace": namespace}
        for where, allowed in rules(self._args.pools, namespace).items():
            metadata: Any = {**elsewhere, **({"namespace": where} if where else {})}
            role: Any = k8s.rbac.v1.Role if where else k8s.rbac.v1.ClusterRole
            binds: Any = k8s.rbac.v1.RoleBinding if where else k8s.rbac.v1.ClusterRoleBinding
            resource = f"{name}-{where or 'nodes'}"
            made.append(role(resource, metadata=metadata, rules=allowed, opts=limited))
            granted = {"api_group": _RBAC, "kind": role.__name__, "name": elsewhere["name"]}
            made.append(binds(resource, metadata=metadata, role_ref=granted, subjects=[subject], opts=limited))
        return made
