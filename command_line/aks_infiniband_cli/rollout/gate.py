"""Another driver on one node first: measured against what its pool was accepted with, and the rest only if it holds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from aks_infiniband.facts.driver_upgrades import FAILED
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES
from aks_infiniband.validation.reports import lacks
from lightkube import ApiError, Client
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import Node, Pod

from aks_infiniband_cli.cluster import NO_ANSWER, connected, operators_in
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.rollout.drivers import Driver, Loaded
from aks_infiniband_cli.rollout.hold import held, hold, is_passed_over, labels_of, release
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.neighbour import measured_with_neighbour, shortfalls_of
from aks_infiniband_cli.validate.nodes import choose, name_of
from aks_infiniband_cli.validate.rendering import Pool
from aks_infiniband_cli.validate.run import Cluster, Say, until
from aks_infiniband_cli.validate.validating import read_cluster


@dataclass(frozen=True, kw_only=True, slots=True)
class Rollout:
    """The result."""

    driver: Driver
    first: str
    before: str
    """The driver's image that the first node had."""
    now: str
    """The image that it has. The image is the same if an operator of another version only changes other parts."""
    others: Sequence[str]
    """The other nodes that are not held by others. If there are shortfalls they are held back, otherwise they get the
    driver.
    """
    not_held: Sequence[str]
    """DaemonSets of the same operator that changed meanwhile, and that Kubernetes replaces on every node."""
    shortfalls: Sequence[str]
    """Differences from the accepted state."""
    pool: Pool | None
    """The measurement; None if the node did not get the driver."""


def roll_out(
    kubeconfig: str, driver: Driver, wanted: str | None, say: Say, *, namespace: str, operator_namespace: str | None
) -> Rollout:
    """Hold back all nodes except one, wait until that one has another driver, measure it, and judge.

    wanted: the first node; None: an idle one. namespace: of the validations. operator_namespace: of the driver's pods;
    None: see Driver.own_pods. Nodes that are held stay so, whatever ends this. Raises CommandError if no driver rolls
    out by itself, no two nodes of a pool are idle, an earlier rollout holds nodes, or the cluster is silent.
    """
    client = connected(kubeconfig)
    validations, nodes, pods = read_cluster(client, namespace)
    try:
        _refuse(client, nodes, driver)
        operators = operators_in(client)
        own = driver.own_pods(pods, operator_namespace, operators)
        loaded = driver.loaded(own)
        validation, first = first_node(validations, nodes, pods, driver, wanted, loaded, operators)
        others = [n for n in nodes if name_of(n) in loaded and name_of(n) != first and not is_passed_over(n, driver)]
        beside = _generations(client, loaded[first].namespace)
        for node in others:
            hold(client, node, driver, first, loaded[first].namespace)
        _tell(driver, first, len(others))
        say(f"Waiting for another driver on node {first}")
        now = _await_driver(client, validation, driver, first, loaded[first])
        pool, shortfalls = None, [f"the upgrade of the driver has failed on node {first}: aks-infiniband doctor"]
        if now is not None:
            cluster = Cluster(client=client, kubeconfig=kubeconfig)
            pool = measured_with_neighbour(cluster, validation, first, say, by="rollout", beside=driver.state)
            shortfalls = shortfalls_of(pool)
        changed = _generations(client, loaded[first].namespace).items() - beside.items()
        if not shortfalls:
            let_go(client)
    except NO_ANSWER as error:
        raise CommandError(f"a request to the cluster failed: {error}") from error
    return Rollout(
        driver=driver,
        first=first,
        before=loaded[first].image,
        now=(now or loaded[first]).image,
        others=list(map(name_of, others)),
        not_held=sorted(name for name, _ in changed),
        shortfalls=shortfalls,
        pool=pool,
    )


def let_go(client: Client) -> list[str]:
    """Let every node that is held back have its driver. Returns the nodes' names."""
    nodes = held(node.to_dict() for node in client.list(Node))
    for node in nodes:
        release(client, node)
    return [name_of(node.node) for node in nodes]


def let_go_when_back(client: Client) -> list[str]:
    """The same, once the first node has a driver of theirs again, as after its version went back. Raises CommandError
    if that node is gone.
    """
    nodes = held(node.to_dict() for node in client.list(Node))

    def look() -> bool | None:
        held_one, driver = nodes[0], nodes[0].driver
        if held_one.first not in {name_of(node.to_dict()) for node in client.list(Node)}:
            raise CommandError(_gone(held_one.first, "whether the version went back cannot be seen there"))
        pods = [pod.to_dict() for pod in client.list(Pod, namespace="*", labels=dict([driver.pods]))]
        loaded = driver.loaded(driver.own_pods(pods, held_one.namespace))
        theirs = {loaded.get(name_of(node.node)) for node in nodes}
        return True if loaded.get(nodes[0].first) in theirs - {None} else None

    if nodes:
        note(f"Waiting until node {nodes[0].first} has the driver of the nodes that are held; Ctrl-C ends the wait")
        until(look)
    return let_go(client)


def _gone(first: str, so: str) -> str:
    onward = "`aks-infiniband rollout --release` releases the others"
    return f"node {first}, which had the driver first, is gone: {so}. {onward}"


def first_node(
    validations: Mapping[str, Deployed],
    nodes: Sequence[Object],
    pods: Sequence[Object],
    driver: Driver,
    wanted: str | None,
    loaded: Mapping[str, Loaded],
    operators: Collection[str] = OPERATOR_NAMESPACES,
) -> tuple[Deployed, str]:
    """The first node, and its pool's validation. Raises CommandError if two of its pool are not idle: it takes two to
    measure. loaded: by node, the source of its driver. operators: their namespaces.
    """
    why = list[str]()
    if wanted is not None and loaded and wanted not in loaded:
        have = f"{', '.join(sorted(loaded))} have one"
        raise CommandError(f"node {wanted} does not have a driver of the {driver.operator}; {have}")
    for validation in validations.values():
        idle, left_out = choose(nodes, pods, validation, wanted=(), include_busy=False, operators=operators)
        names = [name_of(node) for node in idle if name_of(node) in loaded]
        if len(names) > 1 and (wanted is None or wanted in names):
            return validation, wanted or names[0]
        why += [f"{left.node}: {left.why}" for left in left_out]
    asked = f"node {wanted}, and another one of its pool," if wanted else "two nodes of a pool"
    told = "; ".join(why) or "there are none"
    raise CommandError(f"{asked} must be idle, and have a driver that the {driver.operator} brings. {told}")


def _refuse(client: Client, nodes: Sequence[Object], driver: Driver) -> None:
    if names := ", ".join(name_of(node.node) for node in held(nodes)):
        raise CommandError(f"an earlier rollout holds {names}: aks-infiniband rollout --release releases them")
    if not driver.rolls_by_itself(client):
        raise CommandError(
            f"no driver of the {driver.operator} rolls out by itself here: networkOperator.upgrade.automatic is false, "
            f"or {driver.other}. If it is off, delete the driver's pod of one node, and then run "
            "aks-infiniband validate"
        )


def _generations(client: Client, namespace: str) -> dict[str, int]:
    """By name, the generation of the operator's DaemonSets that replace their pods by themselves."""
    found = [daemon_set.to_dict() for daemon_set in client.list(DaemonSet, namespace=namespace)]
    rolling = [item for item in found if item["spec"].get("updateStrategy", {}).get("type") != "OnDelete"]
    return {str(item["metadata"]["name"]): int(item["metadata"]["generation"]) for item in rolling}


def _tell(driver: Driver, first: str, others: int) -> None:
    note(
        f"Held back: {others} of {others + 1} nodes. Now change {driver.setting} and run {driver.update}: "
        f"node {first} gets the driver first and is measured; the others follow if it is as good. "
        "Ctrl-C leaves them held, and aks-infiniband rollout --release releases them."
    )


def _await_driver(client: Client, validation: Deployed, driver: Driver, first: str, before: Loaded) -> Loaded | None:
    """The driver when the node has another one and is as the pool promises; None if its upgrade fails."""

    def look() -> Loaded | None:
        """The final driver of the node: the old one if its upgrade fails."""
        node = _node(client, first)
        if labels_of(node).get(driver.state) == FAILED:
            return before
        pods = [pod.to_dict() for pod in client.list(Pod, namespace=before.namespace, fields={"spec.nodeName": first})]
        now = driver.loaded(pods).get(first, before)
        return now if now != before and not lacks(dict(node), validation.promise) else None

    now = until(look)
    return None if now == before else now


def _node(client: Client, first: str) -> Object:
    try:
        found: Object = client.get(Node, first).to_dict()
    except ApiError as error:
        if error.status.code == HTTPStatus.NOT_FOUND:
            raise CommandError(_gone(first, "its driver cannot be measured")) from error
        raise
    return found
