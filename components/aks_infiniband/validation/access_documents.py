"""The shared parts of the validations of a namespace's pools, as plain documents: their program, and its
permissions.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.job_parts import common_file, digest, report_name
from aks_infiniband.validation.payload.say.expectations import Expectations
from aks_infiniband.validation.payload.talk.boards import board_names
from aks_infiniband.validation.program import program
from aks_infiniband.validation.validation_job import PoolAccess
from aks_infiniband.workload.claims import claim_template
from aks_infiniband.workload.compute_domains import compute_domain
from aks_infiniband.workload.pods import config_map_name, config_maps

RBAC: Final = "rbac.authorization.k8s.io"
_READ_NODES: Final[Mapping[str, Any]] = {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}


def may_fill(config_maps: Sequence[str]) -> dict[str, list[str]]:
    """The PolicyRule with which pods meet and report in ConfigMaps of these names."""
    return {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": list(config_maps),
        "verbs": ["get", "patch"],
    }


@dataclass(frozen=True, kw_only=True)
class SharedAccess:
    """The program, an account, and its rights, in one namespace."""

    pools: Sequence[Pool]
    """The pools whose validations use it."""
    namespace: str
    """The namespace of all of it, except the right to read nodes."""
    name: str
    """Name of the account, the role and the ConfigMap with the program."""
    given_topologies: Mapping[str, str]
    """By pool name, the content of an NCCL topology file that replaces the file of the size."""
    expected: Sequence[Expectations]
    """The expectations of these pools."""

    @cached_property
    def topologies(self) -> dict[str, str]:
        """By pool name, the key of its NCCL topology in the ConfigMap; pools with the same one share it."""
        return {pool: f"topology-{digest(text)}.xml" for pool, text in self._texts.items()}

    @cached_property
    def common(self) -> frozenset[str]:
        """Keys of what is expected of pools of a kind, in the ConfigMap."""
        return frozenset(dict(map(common_file, self.expected)))

    def for_pool(self, pool: Pool) -> PoolAccess:
        """The objects that the pods of a pool's validation find."""
        topology = self.topologies.get(pool.name)
        return PoolAccess(namespace=self.namespace, account=self.name, topology=topology, common=self.common)

    def program_map(self) -> dict[str, Any]:
        """The ConfigMap with the program, and with the files that it reads."""
        files = {key: self._texts[pool] for pool, key in self.topologies.items()} | dict(
            map(common_file, self.expected)
        )
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": self._own, "data": {**program(), **files}}

    def service_account(self) -> dict[str, Any]:
        """The account, whose token only those pods get that request it."""
        return {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": self._own,
            "automountServiceAccountToken": False,
        }

    def fills_boards(self) -> list[dict[str, Any]]:
        """The right to get and patch the ConfigMaps in which the pods of a pool meet and report, and its binding."""
        boards = [board for pool in self.pools for board in board_names(report_name(pool), pool.node_count)]
        return [*self._granted("Role", self._own, may_fill(boards))]

    def reads_nodes(self) -> list[dict[str, Any]]:
        """The right to read nodes, and its binding. Both reach beyond the namespace, so they carry its name: two stacks
        may share a cluster.
        """
        of_cluster = {"name": f"{self.namespace}-{self.name}", "labels": self._own["labels"]}
        return [*self._granted("ClusterRole", of_cluster, _READ_NODES)]

    def claims(self) -> list[dict[str, Any]]:
        """The templates of the pods' claims, if they claim anything."""
        templates = [claim_template(pool, self.namespace) for pool in self.pools if pool.access.claims]
        return [*templates, *(compute_domain(pool, self.namespace) for pool in self.pools if pool.has_compute_domain)]

    @property
    def _own(self) -> dict[str, Any]:
        return {"name": self.name, "namespace": self.namespace, "labels": labels("validation", "validate")}

    def _granted(self, kind: str, metadata: Mapping[str, Any], rule: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        yield {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": dict(metadata), "rules": [dict(rule)]}
        yield {
            "apiVersion": f"{RBAC}/v1",
            "kind": f"{kind}Binding",
            "metadata": dict(metadata),
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": metadata["name"]},
            "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": self.namespace}],
        }

    @cached_property
    def _texts(self) -> dict[str, str]:
        """By pool name, the NCCL topology that its workloads have."""
        topologies = {pool.name: _topology(pool, self.given_topologies) for pool in self.pools}
        return {name: text for name, text in topologies.items() if text}


def _topology(pool: Pool, given: Mapping[str, str]) -> str | None:
    data = config_maps(pool, topology=given.get(pool.name)).get(config_map_name(pool.name, "-topology"), {})
    return next(iter(data.values()), None)
