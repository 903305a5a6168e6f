"""From the request to the findings: reads the cluster, has the nodes measured, and cordons."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL
from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.operators.offered import held
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation.membership import Membership
from aks_infiniband.validation.reports import Accepted
from lightkube import Client
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Node, Pod

from aks_infiniband_cli.cluster import NO_ANSWER, connected, operators_in
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate import cordon
from aks_infiniband_cli.validate.comparison import changes, earlier
from aks_infiniband_cli.validate.deployed import (
    LABELS,
    Deployed,
    Limits,
    Object,
    deployed,
    expected_of,
    members_of,
)
from aks_infiniband_cli.validate.documents import Run
from aks_infiniband_cli.validate.nodes import LeftOut, choose, name_of, nodes_of
from aks_infiniband_cli.validate.rendering import Outcome, Pool
from aks_infiniband_cli.validate.run import Cluster, Measured, Say, measure
from aks_infiniband_cli.validate.unmanaged.plan import Plan, planned
from aks_infiniband_cli.validate.unmanaged.pools import Asked, Chosen, named, selected, there

_CONFIG_MAPS = {key: value for key, value in LABELS.items() if key != "app.kubernetes.io/component"}
"""Labels of reports, and of the program with what is expected of pools of a kind."""
_NONE = (
    "no stack has left a validation in namespace {}. To measure without one, name the nodes: aks-infiniband validate "
    "--pool NAME, as AKS calls the pool, or --selector LABEL=VALUE ({}). If a stack is there: validation.mode is off, "
    "or an older release has deployed it; `pulumi up` with this release and mode enforce or warn leaves a validation"
)
_NO_INFINIBAND = "no node here is of a size with InfiniBand"
_ALL_LEFT_OUT = "every node is left out"
_NO_NODE = "the cluster does not have a node of the pool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """The user's request."""

    pools: Sequence[str] = ()
    nodes: Sequence[str] = ()
    """Without both, every pool that a stack has validated."""
    include_busy: bool = False
    limits: Limits = field(default_factory=dict)
    against: bytes | None = None
    """The content of an earlier report's file."""
    cordon: bool = False
    namespace: str = SYSTEM_NAMESPACE
    """Namespace of the validations."""
    selector: Mapping[str, str] = field(default_factory=dict)
    """Labels of nodes that are measured as one pool."""
    asked: Asked = field(default_factory=Asked)
    """The choices for a pool that no stack validates."""


def validated(kubeconfig: str, wish: Wish, say: Say) -> Outcome:
    """Measure. Raises CommandError for an unknown pool, node or figure, and if the cluster cannot be read.

    say: takes how far it is.
    """
    unknown = [figure for figure in wish.limits if figure not in FIGURES]
    if unknown:
        raise CommandError(f"no figure is called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    before = earlier(wish.against) if wish.against is not None else None
    cluster = Cluster(client=connected(kubeconfig), kubeconfig=kubeconfig)
    validations, nodes, pods = read_cluster(cluster.client, wish.namespace)
    plan = planned(kubeconfig, _unmanaged(validations, nodes, wish), wish.asked)
    chosen = _pools(validations, plan, nodes, wish)
    missing = [pool for pool in chosen if before is not None and pool not in before]
    if missing:
        raise CommandError(f"the earlier report does not have pool {', '.join(missing)}: choose the pools with --pool")
    if plan.prepare(cluster.client, say, cordon=wish.cordon):
        _, nodes, pods = read_cluster(cluster.client, wish.namespace)
    measuring = _measuring(chosen, nodes, pods, operators_of(cluster.client), wish, before)
    with plan.there(cluster.client, say, needed=any(name in plan.pools for name in measuring.runs)):
        measured = measure(cluster, list(measuring.runs.values()), say)
    pools = [measuring.outcome(name, measured.get(name), plan) for name in chosen]
    cordoned, refused = _cordoned(cluster.client, pools, nodes, validations, wish) if wish.cordon else ({}, {})
    return Outcome(pools=pools, cordoned=cordoned, not_cordoned=refused)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Measuring:
    """The nodes that are measured, and those that are not."""

    members: Mapping[str, Membership]
    runs: Mapping[str, Run]
    left_out: Mapping[str, Sequence[LeftOut]]
    in_part: bool

    def outcome(self, name: str, measured: Measured | None, plan: Plan) -> Pool:
        result = pool_of(
            name, self.runs.get(name), measured, self.left_out[name], members=self.members[name], in_part=self.in_part
        )
        unmanaged = plan.pools.get(name)
        return replace(result, unmanaged=unmanaged.document() if unmanaged else None)


def _measuring(
    chosen: Mapping[str, Deployed],
    nodes: Sequence[Object],
    pods: Sequence[Object],
    operators: Collection[str],
    wish: Wish,
    before: Mapping[str, Accepted] | None,
) -> _Measuring:
    members = {name: _members(validation, nodes) for name, validation in chosen.items()}
    runs, left_out = dict[str, Run](), dict[str, list[LeftOut]]()
    for name, validation in chosen.items():
        idle, left_out[name] = choose(
            nodes, pods, validation, wanted=wish.nodes, include_busy=wish.include_busy, operators=operators
        )
        if not validation.lasting:  # the taints that its pods tolerate are unknown
            left_out[name] += [LeftOut(node=name_of(node), why=why) for node in idle if (why := held(node))]
            idle = [node for node in idle if not held(node)]
        if idle:
            runs[name] = Run(
                validation=validation,
                nodes=idle,
                expected=expected_of(validation, len(idle), wish.limits, pool_nodes=len(members[name].present)),
                before=validation.accepted if before is None else before[name],
            )
    return _Measuring(members=members, runs=runs, left_out=left_out, in_part=bool(wish.nodes))


def _cordoned(
    client: Client,
    pools: Sequence[Pool],
    nodes: Sequence[Object],
    validations: Mapping[str, Deployed],
    wish: Wish,
) -> tuple[dict[str, str], dict[str, str]]:
    """The nodes that were cordoned, and those that could not be; each with why."""
    cordoned, refused = dict[str, str](), dict[str, str]()
    by_name = {name_of(node): node for node in nodes}
    for pool in pools:
        namespace = wish.namespace if pool.name in validations and pool.unmanaged is None else None
        for node, why in (cordon.failing(pool.report) if pool.report else {}).items():
            try:
                cordon.cordon(client, by_name[node], why, namespace)
                cordoned[node] = why
            except NO_ANSWER as error:  # what was measured is worth more than the cordon
                refused[node] = str(error)
    return cordoned, refused


def uncordoned(kubeconfig: str, wish: Wish) -> Outcome:
    """Uncordon the nodes that this command cordoned: those that were named, or all. Raises CommandError as `validated`
    does.
    """
    client = connected(kubeconfig)
    validations, nodes, _ = read_cluster(client, wish.namespace)
    asked = _asked_nodes(validations, nodes, wish)
    marked = cordon.marked(asked)
    try:
        for node in asked:
            if name_of(node) in marked:
                cordon.uncordon(client, node, wish.namespace if validations else None)
    except NO_ANSWER as error:
        raise CommandError(f"a node could not be uncordoned: {error}") from error
    return Outcome(uncordoned=marked)


def _asked_nodes(validations: Mapping[str, Deployed], nodes: Sequence[Object], wish: Wish) -> list[Object]:
    """The nodes that were named, by pool, label or name; else all."""
    chosen = list(nodes)
    if wish.pools or wish.selector:
        of_stacks = [node for pool in wish.pools if pool in validations for node in nodes_of(nodes, validations[pool])]
        chosen = [*of_stacks, *(node for each in _unmanaged(validations, nodes, wish) for node in each.nodes)]
    absent = [name for name in wish.nodes if name not in map(name_of, chosen)]
    if absent:
        where = f" in {', '.join(wish.pools)}" if wish.pools else ""
        raise CommandError(f"{', '.join(absent)}: no such node{where}")
    return [node for node in chosen if not wish.nodes or name_of(node) in wish.nodes]


def read_cluster(client: Client, namespace: str) -> tuple[dict[str, Deployed], Sequence[Object], Sequence[Object]]:
    """The validations by pool, all nodes and all pods. Raises CommandError if they cannot be read.

    namespace: of the validations. In other namespaces every user may have made an object that looks like one, to have
    nodes cordoned.
    """
    try:
        jobs = [found.to_dict() for found in client.list(Job, namespace=namespace, labels=LABELS)]
        config_maps = [found.to_dict() for found in client.list(ConfigMap, namespace=namespace, labels=_CONFIG_MAPS)]
        nodes = [found.to_dict() for found in client.list(Node)]
        pods = [found.to_dict() for found in client.list(Pod, namespace="*", chunk_size=500)]
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error
    return deployed(jobs, config_maps), nodes, pods


def operators_of(client: Client) -> set[str]:
    """The namespaces whose pods are believed to be an operator's. Raises CommandError if they cannot be read."""
    try:
        return operators_in(client)
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error


def _unmanaged(validations: Mapping[str, Deployed], nodes: Sequence[Object], wish: Wish) -> list[Chosen]:
    """The named pools that no stack validates. Raises CommandError for one that there is not."""
    if wish.selector:
        if wish.pools:
            raise CommandError("--pool and --selector: give one of them, each says which nodes are measured")
        chosen = selected(nodes, wish.selector)
        names = set(map(name_of, chosen.nodes))
        taken = [pool for pool, each in validations.items() if names.intersection(map(name_of, nodes_of(nodes, each)))]
        if taken:
            raise CommandError(f"a stack validates these nodes: --pool {', --pool '.join(taken)} measures them")
        return [chosen]
    chosen_by_pool = {pool: named(nodes, pool) for pool in dict.fromkeys(wish.pools) if pool not in validations}
    strange = [pool for pool, chosen in chosen_by_pool.items() if chosen is None]
    if strange:
        others = f"there are {', '.join(validations)}; " if validations else ""
        raise CommandError(
            f"pool {', '.join(strange)} does not have a validation; {others}and no node has this label of AKS "
            f"({AGENT_POOL_LABEL}): {there(nodes) or _NO_INFINIBAND}"
        )
    return [chosen for chosen in chosen_by_pool.values() if chosen is not None]


def _pools(validations: Mapping[str, Deployed], plan: Plan, nodes: Sequence[Object], wish: Wish) -> dict[str, Deployed]:
    """The validations of the named pools, or of those of the named nodes."""
    by_name = bool(wish.pools or wish.selector)
    stacks = {name: each for name, each in validations.items() if not by_name or name in wish.pools}
    if not stacks and not plan.pools:
        raise CommandError(_NONE.format(wish.namespace, there(nodes) or _NO_INFINIBAND))
    if stacks and wish.asked:
        raise CommandError(
            f"the stack says how pool {', '.join(stacks)} is measured: leave --mode, --rdma-resource and --image out"
        )
    chosen = {**stacks, **plan.validations}
    if not wish.nodes:
        return chosen
    by_pool = {name: set(map(name_of, nodes_of(nodes, validation))) for name, validation in chosen.items()}
    known = {node for names in by_pool.values() for node in names}
    absent = [node for node in wish.nodes if node not in known]
    if absent:
        told = {name: _members(validation, nodes).told() for name, validation in chosen.items()}
        lacks = "".join(f"; pool {name}: {lack}" for name, lack in told.items() if lack)
        raise CommandError(f"{', '.join(absent)}: no such node in {', '.join(chosen)}{lacks}")
    return {name: chosen[name] for name, names in by_pool.items() if names.intersection(wish.nodes)}


def _members(validation: Deployed, nodes: Sequence[Object]) -> Membership:
    return members_of(validation, map(name_of, nodes_of(nodes, validation)))


def pool_of(
    name: str,
    run: Run | None,
    measured: Measured | None,
    left_out: Sequence[LeftOut] = (),
    *,
    members: Membership,
    in_part: bool,
) -> Pool:
    """The outcome of a pool, whether or not it was measured. in_part: the user named only some of its nodes."""
    if run is None or measured is None:
        why = _ALL_LEFT_OUT if members.present else _NO_NODE
        return Pool(name=name, nodes=[], left_out=left_out, report=None, why=[why], members=members, in_part=in_part)
    return Pool(
        name=name,
        nodes=list(map(name_of, run.nodes)),
        left_out=left_out,
        members=members,
        in_part=in_part,
        report=measured.report,
        why=measured.why,
        before=run.before["finished"] if run.before and measured.report else None,
        changes=changes(run.before, measured.report) if measured.report else (),
    )
