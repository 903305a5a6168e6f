"""From what was asked for to what was found: reads the cluster, has the nodes measured, and cordons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.validation.membership import Membership
from lightkube import Client
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Node, Pod

from aks_infiniband_cli.cluster import NO_ANSWER, connected
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
from aks_infiniband_cli.validate.rendering import Found, Pool
from aks_infiniband_cli.validate.run import Cluster, Measured, Say, measure

_CONFIG_MAPS = {key: value for key, value in LABELS.items() if key != "app.kubernetes.io/component"}
"""Labels of reports, and of the program with what is expected of pools of a kind."""
_NONE = (
    "no stack has left a validation in namespace {}: validation.mode is off, or an older release has deployed it. "
    "`pulumi up` with this release and mode enforce or warn leaves one"
)
_ALL_LEFT_OUT = "every node is left out"
_NO_NODE = "the cluster has no node of the pool"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """What was asked for."""

    pools: Sequence[str] = ()
    nodes: Sequence[str] = ()
    """Without both, every pool."""
    include_busy: bool = False
    limits: Limits = field(default_factory=dict)
    against: bytes | None = None
    """What the file of an earlier report holds."""
    cordon: bool = False
    namespace: str = SYSTEM_NAMESPACE
    """Of the validations."""


def validated(kubeconfig: str, wish: Wish, say: Say) -> Found:
    """Measure. Raises CommandError for a pool, node or figure that there is not, and where the cluster cannot be read.

    say: takes how far it is.
    """
    unknown = [figure for figure in wish.limits if figure not in FIGURES]
    if unknown:
        raise CommandError(f"no figure is called {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    before = earlier(wish.against) if wish.against is not None else None
    cluster = Cluster(client=connected(kubeconfig), kubeconfig=kubeconfig)
    validations, nodes, pods = read_cluster(cluster.client, wish.namespace)
    chosen = _pools(validations, nodes, wish)
    missing = [pool for pool in chosen if before is not None and pool not in before]
    if missing:
        raise CommandError(f"the earlier report has no pool {', '.join(missing)}: --pool says which to measure")
    members = {name: _members(validation, nodes) for name, validation in chosen.items()}
    runs, left_out = dict[str, Run](), dict[str, list[LeftOut]]()
    for name, validation in chosen.items():
        idle, left_out[name] = choose(nodes, pods, validation, wanted=wish.nodes, include_busy=wish.include_busy)
        if idle:
            runs[name] = Run(
                validation=validation,
                nodes=idle,
                expected=expected_of(validation, len(idle), wish.limits, pool_nodes=len(members[name].present)),
                before=validation.accepted if before is None else before[name],
            )
    measured = measure(cluster, list(runs.values()), say)
    pools = [
        pool_of(
            name, runs.get(name), measured.get(name), left_out[name], members=members[name], in_part=bool(wish.nodes)
        )
        for name in chosen
    ]
    cordoned, refused = dict[str, str](), dict[str, str]()
    by_name = {name_of(node): node for node in nodes}
    for node, why in _failing(pools).items() if wish.cordon else ():
        try:
            cordon.cordon(cluster.client, by_name[node], why, wish.namespace)
            cordoned[node] = why
        except NO_ANSWER as error:  # what was measured is worth more than the cordon
            refused[node] = str(error)
    return Found(pools=pools, cordoned=cordoned, not_cordoned=refused)


def uncordoned(kubeconfig: str, wish: Wish) -> Found:
    """Uncordon the nodes that this command cordoned: those that were asked for, or all. Raises CommandError as
    `validated` does.
    """
    client = connected(kubeconfig)
    validations, nodes, _ = read_cluster(client, wish.namespace)
    if wish.pools or wish.nodes:
        chosen = _pools(validations, nodes, wish)
        of_pools = [node for validation in chosen.values() for node in nodes_of(nodes, validation)]
        nodes = [node for node in of_pools if not wish.nodes or name_of(node) in wish.nodes]
    marked = cordon.marked(nodes)
    try:
        for node in nodes:
            if name_of(node) in marked:
                cordon.uncordon(client, node, wish.namespace)
    except NO_ANSWER as error:
        raise CommandError(f"a node could not be uncordoned: {error}") from error
    return Found(uncordoned=marked)


def read_cluster(client: Client, namespace: str) -> tuple[dict[str, Deployed], Sequence[Object], Sequence[Object]]:
    """The validations by pool, all nodes and all pods. Raises CommandError where they cannot be read.

    namespace: of the validations. Elsewhere anybody may have made what looks like one, to have nodes cordoned.
    """
    try:
        jobs = [found.to_dict() for found in client.list(Job, namespace=namespace, labels=LABELS)]
        config_maps = [found.to_dict() for found in client.list(ConfigMap, namespace=namespace, labels=_CONFIG_MAPS)]
        nodes = [found.to_dict() for found in client.list(Node)]
        pods = [found.to_dict() for found in client.list(Pod, namespace="*", chunk_size=500)]
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error
    return deployed(jobs, config_maps), nodes, pods


def _pools(validations: Mapping[str, Deployed], nodes: Sequence[Object], wish: Wish) -> dict[str, Deployed]:
    """The pools that were asked for, or those of the nodes that were."""
    if not validations:
        raise CommandError(_NONE.format(wish.namespace))
    strange = [pool for pool in wish.pools if pool not in validations]
    if strange:
        raise CommandError(f"there is no validation of pool {', '.join(strange)}; there are {', '.join(validations)}")
    chosen = {name: validations[name] for name in wish.pools or validations}
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
    """The outcome of a pool, whether or not it was measured. in_part: only some of its nodes were asked for."""
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


def _failing(pools: Sequence[Pool]) -> dict[str, str]:
    return {node: why for pool in pools if pool.report for node, why in cordon.failing(pool.report).items()}
