"""What the validations of a namespace's pools share: their program, and who may do what while it runs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE, labels
from aks_infiniband.resources.options import child_options
from aks_infiniband.validation.job_parts import common_file, digest, report_name
from aks_infiniband.validation.payload.say.expectations import Expectations
from aks_infiniband.validation.payload.talk.boards import board_names
from aks_infiniband.validation.program import program
from aks_infiniband.validation.validation_job import PoolAccess
from aks_infiniband.workload.claims import claim_templates
from aks_infiniband.workload.compute_domains import compute_domains
from aks_infiniband.workload.pods import config_map_name, config_maps

_RBAC: Final = "rbac.authorization.k8s.io"


def may_fill(config_maps: Sequence[str]) -> dict[str, list[str]]:
    """The PolicyRule with which pods meet and report in ConfigMaps of these names."""
    return {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": list(config_maps),
        "verbs": ["get", "patch"],
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationAccessArgs:
    """What a ValidationAccess takes."""

    pools: Sequence[Pool]
    """The pools whose validations use it."""
    namespace: str = SYSTEM_NAMESPACE
    """Namespace of those validations; it has to exist."""
    name: str = "validation"
    """Name, in the namespace, of the account, the role and the ConfigMap with the program."""
    topologies: Mapping[str, str] = field(default_factory=dict)
    """By pool name, the content of an NCCL topology file to be used instead of the size's."""
    expected: Sequence[Expectations] = ()
    """What is expected of these pools. What pools of a kind have in common is written once, not into each pool's Job.
    """


class ValidationAccess(pulumi.ComponentResource):
    """The program of the validation's pods, and an account with which they read nodes, and get and patch the
    ConfigMaps in which those of a pool meet and report; nothing else.

    A namespace needs one for all its validations: hand it to each as ValidationArgs.access.
    """

    account: str
    """Name of the account, and of the ConfigMap with the program."""
    namespace: str
    """Where they are."""
    topologies: Mapping[str, str]
    """By pool name, the key of its NCCL topology in that ConfigMap; pools with the same one share it."""
    common: Collection[str]
    """Keys of what is expected of pools of a kind, in that ConfigMap."""

    def __init__(self, name: str, *, args: ValidationAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:ValidationAccess", name, None, opts)
        self.account, self.namespace = args.name, args.namespace
        options = child_options(self, opts)
        described = labels("validation", "validate")
        own: Any = {"name": args.name, "namespace": args.namespace, "labels": described}
        texts = {pool.name: text for pool in args.pools if (text := _topology(pool, args.topologies))}
        self.topologies = {pool: f"topology-{digest(text)}.xml" for pool, text in texts.items()}
        common = dict(map(common_file, args.expected))
        self.common = frozenset(common)
        files = {**{key: texts[pool] for pool, key in self.topologies.items()}, **common}
        k8s.core.v1.ConfigMap(f"{name}-payload", metadata=own, data={**program(), **files}, opts=options)
        k8s.core.v1.ServiceAccount(
            f"{name}-validate", metadata=own, automount_service_account_token=False, opts=options
        )
        claim_templates(name, args.pools, args.namespace, options)
        compute_domains(name, args.pools, args.namespace, options)
        config_maps: Any = may_fill(
            [board for pool in args.pools for board in board_names(report_name(pool), pool.node_count)]
        )
        nodes: Any = {"api_groups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}
        # Roles that reach beyond the namespace carry its name: two stacks may share a cluster.
        of_cluster: Any = {"name": f"{args.namespace}-{args.name}", "labels": described}
        for role, binding, metadata, rule in (
            (k8s.rbac.v1.Role, k8s.rbac.v1.RoleBinding, own, config_maps),
            (k8s.rbac.v1.ClusterRole, k8s.rbac.v1.ClusterRoleBinding, of_cluster, nodes),
        ):
            role(f"{name}-validate", metadata=metadata, rules=[rule], opts=options)
            binding(
                f"{name}-validate",
                metadata=metadata,
                role_ref={"api_group": _RBAC, "kind": role.__name__, "name": metadata["name"]},
                subjects=[{"kind": "ServiceAccount", "name": args.name, "namespace": args.namespace}],
                opts=options,
            )
        self.register_outputs({})

    def of(self, pool: Pool) -> PoolAccess:
        """What the pods of a pool's validation find."""
        topology = self.topologies.get(pool.name)
        return PoolAccess(namespace=self.namespace, account=self.account, topology=topology, common=self.common)


def _topology(pool: Pool, given: Mapping[str, str]) -> str | None:
    """What the pool's workloads have."""
    found = config_maps(pool, topology=given.get(pool.name)).get(config_map_name(pool.name, "-topology"), {})
    return next(iter(found.values()), None)
