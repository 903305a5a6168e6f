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
from aks_infiniband.light_check.watch_documents import EVERY_MINUTE, now_name, watch_spec
from aks_infiniband.light_check.watch_documents import NAME as WATCH
from aks_infiniband.light_check.watch_documents import policies as watch_policies
from aks_infiniband.light_check.watch_documents import rules as watch_rules
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
    """The inputs of a LightCheck."""

    pools: Sequence[Pool]
    """The pools that are checked; none in mode driver-only, in which no resource shows which node is idle."""
    schedule: Annotated[str, schedule]
    """When, in cron's five fields, by the control plane's clock: UTC on AKS."""
    thresholds: Mapping[str, GivenThreshold] = field(default_factory=dict)
    """Bounds that replace the catalogue's, by figure; rdma-write-bandwidth is measured."""
    error_counters: Unread = "warn"
    """The treatment of a node whose ports' error counters cannot be read: enforce fails it, warn reports it, off does
    not look.
    """
    namespace: Annotated[str, namespace] = SYSTEM_NAMESPACE
    """Namespace of all that the check makes; it has to exist. No workload belongs there. Pools in mode dra need a
    ValidationAccess there, which makes the templates of claims.
    """
    registry: Registry = SOURCES
    """The source of images. Default: the places at which their makers publish them."""

    def __post_init__(self) -> None:
        """Raises ValueError for no schedule, and for no namespace of this program's."""
        keep_rules(self)
        if reason := why_not_ours(self.namespace):
            raise ValueError(f"namespace is {self.namespace}; it {reason}")


class LightCheck(pulumi.ComponentResource):
    """Looks at idle nodes on a schedule: links, error counters, and the bandwidth of RDMA writes between them.

    A watch has it run between the scheduled times if a node joined, restarted or shows a fault. If the admission of a
    pool says so, the watch keeps pods off a node until it is measured. The check's findings are in a ConfigMap for each
    pool, in the nodes' condition InfiniBandHealthy and their Events, and in the metrics of an exporter. The check
    cordons nothing. A workload takes a node from it at once.
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
        runs: list[pulumi.Resource] = []
        for pool in args.pools:
            meeting: list[pulumi.Resource] = []
            for resource, board in zip(board_names(f"{name}-{pool.name}", pool.node_count), boards(pool), strict=True):
                named = self._of_pool(pool, board)
                meeting.append(k8s.core.v1.ConfigMap(resource, metadata=named, opts=filled))
            runs += self._runs(pool, [*needed, *meeting])
        after = child_options(self, opts, depends_on=needed)
        exporter: Any = exporter_spec(args.pools, args.registry)
        k8s.apps.v1.Deployment(f"{name}-exporter", metadata=self._own("exporter"), spec=exporter, opts=after)
        self._watch([*needed, *runs], filled)
        self.register_outputs({})

    def _runs(self, pool: Pool, needed: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        """The CronJobs of a pool: on the schedule, and one that the watch has run."""
        args = self._args

        def spec(schedule: str, *, suspended: bool = False) -> Any:
            return cron_job_spec(
                pool,
                schedule=schedule,
                namespace=args.namespace,
                given=args.thresholds,
                registry=args.registry,
                error_counters=args.error_counters,
                suspended=suspended,
            )

        after = child_options(self, self._opts, depends_on=[*needed])
        # The watch changes this field, so it is not taken back.
        watched = child_options(self, self._opts, depends_on=[*needed], ignore_changes=["spec.suspend"])
        own, now = self._of_pool(pool, report_name(pool)), self._of_pool(pool, now_name(pool))
        now["annotations"] = {"pulumi.com/patchForce": "true"}
        return [
            k8s.batch.v1.CronJob(f"{self._name}-{pool.name}", metadata=own, spec=spec(args.schedule), opts=after),
            k8s.batch.v1.CronJob(
                f"{self._name}-{pool.name}-now", metadata=now, spec=spec(EVERY_MINUTE, suspended=True), opts=watched
            ),
        ]

    def _watch(self, needed: Sequence[pulumi.Resource], filled: pulumi.ResourceOptions) -> None:
        """The watch, its notes and its account."""
        name, namespace = f"{self._name}-watch", self._args.namespace
        own: Any = {**self._own("watch"), "name": WATCH}
        options = child_options(self, self._opts)
        account = k8s.core.v1.ServiceAccount(name, metadata=own, automount_service_account_token=False, opts=options)
        notes = k8s.core.v1.ConfigMap(name, metadata=own, opts=filled)
        rights = self._granted(
            name, WATCH, watch_policies(namespace), watch_rules(self._args.pools, namespace), labels(NAME, "watch")
        )
        after = child_options(self, self._opts, depends_on=[*needed, account, notes, *rights])
        spec: Any = watch_spec(self._args.pools, namespace, self._args.registry)
        k8s.apps.v1.Deployment(name, metadata=own, spec=spec, opts=after)

    def _of_pool(self, pool: Pool, name: str) -> Any:
        return {"name": name, "namespace": self._args.namespace, "labels": pool_labels(pool)}

    def _own(self, component: str) -> Any:
        return {"name": NAME, "namespace": self._args.namespace, "labels": labels(NAME, component)}

    def _rights(self) -> list[pulumi.Resource]:
        """The account with its roles, what holds it to its use, and the priority of its pods."""
        name, options = self._name, child_options(self, self._opts)
        # Objects outside our namespace carry its name: two stacks may share a cluster.
        elsewhere: Any = {"name": f"{self._args.namespace}-{NAME}", "labels": labels(NAME, "check")}
        account = k8s.core.v1.ServiceAccount(
            name, metadata=self._own("check"), automount_service_account_token=False, opts=options
        )
        priority = k8s.scheduling.v1.PriorityClass(
            name, metadata=elsewhere, value=PRIORITY, preemption_policy="Never", opts=options
        )
        allowed = rules(self._args.pools, self._args.namespace)
        rights = self._granted(name, NAME, policies(self._args.namespace), allowed, labels(NAME, "check"))
        return [account, priority, *rights]

    def _granted(
        self,
        name: str,
        account: str,
        limits: Mapping[str, Any],
        allowed: Mapping[str | None, Sequence[Any]],
        described: Mapping[str, str],
    ) -> list[pulumi.Resource]:
        """The roles of an account. Rights are given after the policies that limit them, and taken away before them.

        name: of the resources in the program. allowed: rules by namespace, None for the whole cluster.
        """
        namespace, options = self._args.namespace, child_options(self, self._opts)
        elsewhere: Any = {"name": f"{namespace}-{account}", "labels": dict(described)}
        limited = child_options(self, self._opts, depends_on=bound_policies(name, elsewhere, limits, options))
        subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
        made: list[pulumi.Resource] = []
        for where, rules_there in allowed.items():
            metadata: Any = {**elsewhere, **({"namespace": where} if where else {})}
            role: Any = k8s.rbac.v1.Role if where else k8s.rbac.v1.ClusterRole
            binds: Any = k8s.rbac.v1.RoleBinding if where else k8s.rbac.v1.ClusterRoleBinding
            resource = f"{name}-{where or 'nodes'}"
            made.append(role(resource, metadata=metadata, rules=list(rules_there), opts=limited))
            granted = {"api_group": _RBAC, "kind": role.__name__, "name": elsewhere["name"]}
            made.append(binds(resource, metadata=metadata, role_ref=granted, subjects=[subject], opts=limited))
        return made
