"""A Network Operator that others keep: the program makes and changes nothing of it. Its policies, and what the
cluster's Node Feature Discovery says of the nodes, are read and judged against what the pools need.
"""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pulumi

from aks_infiniband.diagnosis.device_plugins import LIST, SHARED, WHOLE, Plugin, entries, given_entries
from aks_infiniband.facts.modes import RDMA_SHARED_RESOURCE, SRIOV_RESOURCE
from aks_infiniband.facts.pool import Pool, taint_text, tolerates
from aks_infiniband.operators import existing_policy
from aks_infiniband.operators.existing_policy import LOOK_SECONDS, Policy
from aks_infiniband.operators.gpu_operator import is_gpu_pool
from aks_infiniband.operators.network_operator import PRESENT, RULE_NAME, node_feature_rule_spec
from aks_infiniband.operators.nic_policy import POLICY_NAME, NicPolicySpecs, pool_sections
from aks_infiniband.operators.release import DEFAULTS, OperatorOptions
from aks_infiniband.resources.options import WaitArgs

Node = Mapping[str, Any]
Lack = tuple[str, str]
"""A state that the pools cannot use, and what to do."""
MISSING: Final = (
    "the cluster does not have a NicClusterPolicy, so the nodes lack a Network Operator: have it made, or leave out "
    "aks-infiniband:networkOperator.existing, and this program installs one"
)
_KIND: Final = "NicClusterPolicy"
_API: Final = "mellanox.com/v1alpha1"
_DRIVER: Final = "ofedDriver"
_RESOURCE: Final = {SHARED: RDMA_SHARED_RESOURCE, WHOLE: SRIOV_RESOURCE}
_GPU_PRESENT: Final = {"feature.node.kubernetes.io/pci-10de.present": "true"}
"""The label by which the GPU Operator knows a node with GPUs."""
_MOST_NAMES: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Judge:
    """The state of a cluster, and the needs of its pools."""

    policies: Sequence[Policy]
    """NicClusterPolicies and NicNodePolicies."""
    nodes: Sequence[Node]
    """The cluster's."""
    specs: NicPolicySpecs
    """The policies that this program would make."""
    options: OperatorOptions = DEFAULTS
    """With which it would make it."""
    finds_gpus: bool = False
    """True if this program installs the GPU Operator, which needs the discovery's label of the GPUs."""

    def lacking(self) -> Iterator[Lack]:
        """The reasons why the pools' pods do not reach their HCAs, with the object that the operator's owner
        may apply.
        """
        yield from self._labels()
        if self._cluster_policy is None:
            yield MISSING, f"{_applied(_KIND, _API, POLICY_NAME, self.specs.cluster)}, once the operator is there"
            return
        for pool in self.specs.pools:
            yield from self._driver(pool)
            for plugin in (SHARED, WHOLE):
                yield from self._plugin(pool, plugin)
            yield from self._reached(pool)

    def serving(self) -> list[Policy]:
        """The policies that the pools' nodes need, which must be ready."""
        own = [policy for policy in self.policies if any(self._selects(policy, pool) for pool in self.specs.pools)]
        return own if self._cluster_policy is not None else []

    @property
    def _cluster_policy(self) -> Policy | None:
        named = [policy for policy in self.policies if _is_cluster_policy(policy)]
        return next((policy for policy in named if policy["metadata"]["name"] == POLICY_NAME), None)

    def _nodes_of(self, pool: Pool) -> list[Node]:
        return [node for node in self.nodes if pool.node_selector.items() <= _labels(node).items()]

    def _common_labels(self, pool: Pool) -> Mapping[str, str]:
        """Labels of all nodes of a pool; those that the stack file names if none is there."""
        return common_labels(self._nodes_of(pool)) or pool.node_selector

    def _selects(self, policy: Policy, pool: Pool) -> bool:
        return selects(policy, self._common_labels(pool))

    def _holder(self, pool: Pool, section: str) -> Policy | None:
        return holder_of(self.policies, self._common_labels(pool), section)

    def _labels(self) -> Iterator[Lack]:
        for pool in self.specs.pools:
            if names := _without(self._nodes_of(pool), PRESENT):
                label = "=".join(*PRESENT.items())
                yield (
                    f"nodes of pool {pool.name} lack the label {label}, by which the operator knows them: {names}",
                    _applied(
                        "NodeFeatureRule",
                        "nfd.k8s-sigs.io/v1alpha1",
                        RULE_NAME,
                        node_feature_rule_spec(self.specs.pools),
                    ),
                )
            if self.finds_gpus and is_gpu_pool(pool) and (names := _without(self._nodes_of(pool), _GPU_PRESENT)):
                yield (
                    f"nodes of pool {pool.name} lack the label {'='.join(*_GPU_PRESENT.items())}, by which the GPU "
                    f"Operator knows them: {names}",
                    "in the values of the chart that brought Node Feature Discovery, set "
                    "node-feature-discovery.worker.config.sources.pci to {deviceClassWhitelist: ['0300', '0302'], "
                    "deviceLabelFields: [vendor]}",
                )

    def _driver(self, pool: Pool) -> Iterator[Lack]:
        holder, wanted = self._holder(pool, _DRIVER), pool.nic_driver == "doca-ofed"
        if wanted and holder is None:
            section = {_DRIVER: pool_sections(pool, self.options)[_DRIVER]}
            yield (
                f"no policy has {_DRIVER} for pool {pool.name}, whose driver is doca-ofed",
                f"{_patched(_KIND, POLICY_NAME, section)}, which reloads the driver on nodes that are in use; or set "
                "aks-infiniband:networkOperator.driver: inbox",
            )
        if holder is not None and not wanted:
            yield (
                f"{name_of(holder)} has {_DRIVER}, and the driver of pool {pool.name} is inbox",
                "set aks-infiniband:networkOperator.driver: doca-ofed",
            )

    def _plugin(self, pool: Pool, plugin: Plugin) -> Iterator[Lack]:
        wanted = pool_sections(pool, self.options).get(plugin)
        holder, resource = self._holder(pool, plugin), _RESOURCE[plugin]
        if wanted is None:
            if holder is not None and not pool.access.privileged:
                yield (
                    f"{name_of(holder)} has {plugin}, which hands out the HCAs of pool {pool.name} a second time: its "
                    f"mode is {pool.mode}",
                    "set aks-infiniband:networkOperator.mode to what the cluster has, rdma-shared or sriov",
                )
            return
        if holder is None:
            yield (
                f"no policy has {plugin}, which offers {resource} to pods of pool {pool.name}",
                _patched(_KIND, POLICY_NAME, {plugin: wanted}),
            )
            return
        given = config_of(holder, plugin)
        offered = [entry.resource for entry in entries(given, name_of(holder), [plugin])]
        if resource not in offered:
            own = json.loads(wanted["config"])[LIST[plugin]]
            config = json.dumps({LIST[plugin]: [*own, *given_entries(given, plugin)]})
            yield (
                f"{name_of(holder)} offers {', '.join(offered) or 'no resource that can be read'} by its {plugin}; "
                f"pods of pool {pool.name} request {resource}",
                _patched(_kind(holder), holder["metadata"]["name"], {plugin: {"config": config}}),
            )

    def _reached(self, pool: Pool) -> Iterator[Lack]:
        """Check that the pods of the policies' DaemonSets run on the pool's nodes."""
        found = (self._holder(pool, section) for section in pool_sections(pool, self.options))
        for holder in {name_of(holder): holder for holder in found if holder is not None}.values():
            spec = holder["spec"]
            tolerations = list(spec.get("tolerations") or [])
            needed = [
                each
                for each in pool.upkeep_tolerations
                if each["effect"] != "PreferNoSchedule" and not any(tolerates(had, each) for had in tolerations)
            ]
            if needed:
                taints = ", ".join(map(taint_text, needed))
                yield (
                    f"{name_of(holder)} does not tolerate the taint {taints} of pool {pool.name}",
                    _patched(_kind(holder), holder["metadata"]["name"], {"tolerations": [*tolerations, *needed]}),
                )
            terms = _terms(spec.get("nodeAffinity"))
            left = [
                _node_name(node)
                for node in self._nodes_of(pool)
                if terms and not any(_fits(term, node) for term in terms)
            ]
            if left:
                yield (
                    f"the nodeAffinity of {name_of(holder)} leaves out nodes of pool {pool.name}: {_few(left)}",
                    f"kubectl edit {_kind(holder).lower()} {holder['metadata']['name']}: add a nodeSelectorTerm for "
                    f"{', '.join('='.join(pair) for pair in pool.node_selector.items())}",
                )


def common_labels(nodes: Iterable[Node]) -> dict[str, str]:
    """The labels that all of some nodes have."""
    items = [set(_labels(node).items()) for node in nodes]
    return dict(set.intersection(*items)) if items else {}


def selects(policy: Policy, labels: Mapping[str, str]) -> bool:
    """True if a policy is for nodes with these labels: the one NicClusterPolicy that the operator takes, or a
    NicNodePolicy that selects them.
    """
    if _is_cluster_policy(policy):
        return bool(policy["metadata"]["name"] == POLICY_NAME)
    wanted = (policy.get("spec") or {}).get("nodeSelector") or {}
    return bool(wanted.items() <= labels.items())


def holder_of(policies: Iterable[Policy], labels: Mapping[str, str], section: str) -> Policy | None:
    """The policy that has a section for nodes with these labels."""
    own = [policy for policy in policies if selects(policy, labels)]
    return next((policy for policy in own if (policy.get("spec") or {}).get(section) is not None), None)


def config_of(policy: Policy, plugin: Plugin) -> str:
    """A policy's configuration of a device plugin, as it is written; empty if there is none."""
    section = (policy.get("spec") or {}).get(plugin) or {}
    return str(section.get("config") or "")


def _is_cluster_policy(policy: Policy) -> bool:
    return _kind(policy) == _KIND


def _kind(policy: Policy) -> str:
    return str(policy.get("kind") or _KIND)


def name_of(policy: Policy) -> str:
    """A policy in words."""
    return f"{_kind(policy)} {policy['metadata']['name']}"


def _node_name(node: Node) -> str:
    return str(node["metadata"]["name"])


def _labels(node: Node) -> Mapping[str, str]:
    return node["metadata"].get("labels") or {}


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"{', '.join(names[:_MOST_NAMES])}{more}"


def _without(nodes: Sequence[Node], label: Mapping[str, str]) -> str:
    """The nodes that lack a label, in words; empty if all have it."""
    return _few([_node_name(node) for node in nodes if not label.items() <= _labels(node).items()])


def _terms(affinity: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    required = (affinity or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return list(required.get("nodeSelectorTerms") or [])


def _fits(term: Mapping[str, Any], node: Node) -> bool:
    """True if a node has the labels of a nodeSelectorTerm of core/v1. Fields and comparisons are taken to fit."""
    labels = _labels(node)
    for wanted in term.get("matchExpressions") or []:
        has, values = wanted["key"] in labels, wanted.get("values") or []
        fits = {
            "In": has and labels.get(wanted["key"]) in values,
            "NotIn": labels.get(wanted["key"]) not in values,
            "Exists": has,
            "DoesNotExist": not has,
        }
        if not fits.get(wanted["operator"], True):
            return False
    return True


def _applied(kind: str, api: str, name: str, spec: Mapping[str, Any]) -> str:
    document = {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}
    return f"echo {shlex.quote(json.dumps(document))} | kubectl apply --filename -"


def _patched(kind: str, name: str, spec: Mapping[str, Any]) -> str:
    return f"kubectl patch {kind.lower()} {name} --type merge --patch {shlex.quote(json.dumps({'spec': spec}))}"


@dataclass(frozen=True, kw_only=True)
class ExistingNetworkOperatorArgs(WaitArgs):
    """The arguments of an ExistingNetworkOperator. Without a kubeconfig nothing is looked at."""

    policies: NicPolicySpecs
    """The policies that this program would make for the cluster's pools (`nic_policy_specs`)."""
    poll_seconds: float = 10
    """Seconds between two looks."""


class ExistingNetworkOperator(pulumi.ComponentResource):
    """A Network Operator that is there, once its policies for the pools say ready. At preview nothing is waited for."""

    ready: pulumi.Output[pulumi.Resource]
    """For depends_on of what needs InfiniBand; fails with PolicyError."""

    def __init__(
        self, name: str, *, args: ExistingNetworkOperatorArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        super().__init__("aks-infiniband:index:ExistingNetworkOperator", name, None, opts)
        self._args = args
        self.ready = pulumi.Output.from_input(args.kubeconfig).apply(self._wait)
        self.register_outputs({})

    async def _wait(self, kubeconfig: str | None) -> pulumi.Resource:
        if kubeconfig is not None and not pulumi.runtime.is_dry_run():
            await existing_policy.ready(
                partial(_serving, kubeconfig, self._args.policies),
                missing=MISSING,
                poll_seconds=self._args.poll_seconds,
                timeout_seconds=self._args.timeout_seconds,
            )
        return self


def _serving(kubeconfig: str, specs: NicPolicySpecs) -> list[Policy]:
    policies, nodes, _ = policies_there(kubeconfig)
    return Judge(policies=policies, nodes=nodes, specs=specs).serving()


def policies_there(kubeconfig: str) -> tuple[list[Policy], list[Node], list[str]]:
    """The policies of a cluster, its nodes, and the reason why it could not be read."""
    from aks_infiniband.diagnosis.collect import nic_policies, nodes  # noqa: PLC0415  a client takes long to load

    policies, unread = nic_policies(kubeconfig, limit_seconds=LOOK_SECONDS)
    every, also_unread = nodes(kubeconfig, limit_seconds=LOOK_SECONDS)
    return list(policies), list(every), [*unread, *also_unread]
