"""The shared parts of the validations of a namespace's pools: their program, and its permissions while it runs."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.resources.options import child_options
from aks_infiniband.validation.access_documents import SharedAccess
from aks_infiniband.validation.payload.say.expectations import Expectations
from aks_infiniband.validation.validation_job import PoolAccess
from aks_infiniband.workload.claims import claim_templates
from aks_infiniband.workload.compute_domains import compute_domains


@dataclass(frozen=True, kw_only=True, slots=True)
class ValidationAccessArgs:
    """The arguments of a ValidationAccess."""

    pools: Sequence[Pool]
    """The pools whose validations use it."""
    namespace: str = SYSTEM_NAMESPACE
    """Namespace of those validations; it has to exist."""
    name: str = "validation"
    """Name, in the namespace, of the account, the role and the ConfigMap with the program."""
    topologies: Mapping[str, str] = field(default_factory=dict)
    """By pool name, the content of an NCCL topology file that replaces the file of the size."""
    expected: Sequence[Expectations] = ()
    """The expectations of these pools. The expectations that pools of a kind share are written once, not into each
    pool's Job.
    """


class ValidationAccess(pulumi.ComponentResource):
    """The program of the validation's pods, and an account with which they read nodes, and get and patch the
    ConfigMaps in which those of a pool meet and report; nothing else.

    A namespace needs one for all its validations: hand it to each as ValidationArgs.access.
    """

    account: str
    """Name of the account, and of the ConfigMap with the program."""
    namespace: str
    """The namespace of the pools' validations."""
    topologies: Mapping[str, str]
    """By pool name, the key of its NCCL topology in that ConfigMap; pools with the same one share it."""
    common: Collection[str]
    """Keys of what is expected of pools of a kind, in that ConfigMap."""

    def __init__(self, name: str, *, args: ValidationAccessArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:ValidationAccess", name, None, opts)
        shared = SharedAccess(
            pools=args.pools,
            namespace=args.namespace,
            name=args.name,
            given_topologies=args.topologies,
            expected=args.expected,
        )
        self._shared = shared
        self.account, self.namespace = args.name, args.namespace
        self.topologies, self.common = shared.topologies, shared.common
        options = child_options(self, opts)
        _made(k8s.core.v1.ConfigMap, f"{name}-payload", shared.program_map(), options)
        _made(k8s.core.v1.ServiceAccount, f"{name}-validate", shared.service_account(), options)
        claim_templates(name, args.pools, args.namespace, options)
        compute_domains(name, args.pools, args.namespace, options)
        for document in (*shared.fills_boards(), *shared.reads_nodes()):
            _made(getattr(k8s.rbac.v1, document["kind"]), f"{name}-validate", document, options)
        self.register_outputs({})

    def for_pool(self, pool: Pool) -> PoolAccess:
        """The objects that the pods of a pool's validation find."""
        return self._shared.for_pool(pool)


def _made(kind: Any, name: str, document: Mapping[str, Any], options: pulumi.ResourceOptions) -> None:
    """Have the engine make an object as its document says."""
    fields = {_snake(key): value for key, value in document.items() if key not in ("apiVersion", "kind")}
    kind(name, **fields, opts=options)


def _snake(key: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)
