"""Another driver on one node first: measured against what its pool was accepted with, and the rest only if it holds."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Literal

from aks_infiniband.facts.driver_upgrades import FAILED
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES
from aks_infiniband.validation.reports import lacks
from lightkube import Client
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import Node, Pod

from aks_infiniband_cli.cluster import connected, operators_in, refusal_allowed
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.machine_by_machine.loop import carry_through
from aks_infiniband_cli.machine_by_machine.measuring import measured_with_neighbour, shortfalls_of
from aks_infiniband_cli.machine_by_machine.rollout.drivers import Driver, Loaded
from aks_infiniband_cli.machine_by_machine.rollout.hold import held, hold, is_passed_over, labels_of, release
from aks_infiniband_cli.validate.deployed import Deployed, Object
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
    out by itself, no two nodes of a pool are idle, or an earlier rollout holds nodes; and NO_ANSWER.
    """
    client = connected(kubeconfig)
    validations, nodes, pods = read_cluster(client, namespace)
    _refuse(client, nodes, driver)
    operators = operators_in(client)
    loaded = driver.loaded(driver.own_pods(pods, operator_namespace, operators))
    validation, first = first_node(validations, nodes, pods, driver, wanted, loaded, operators)
    others = [n for n in nodes if name_of(n) in loaded and name_of(n) != first and not is_passed_over(n, driver)]
    before = loaded[first]
    generations = _generations(client, before.namespace)
    for node in others:
        hold(client, node, driver, first, before.namespace)
    _note_held(driver, first, len(others))
    cluster = Cluster(client=client, kubeconfig=kubeconfig)
    work = FirstNode(cluster=cluster, validation=validation, driver=driver, name=first, before=before, say=say)
    carry_through(work)
    changed = _generations(client, before.namespace).items() - generations.items()
    if not work.shortfalls:
        let_go(client)
    return Rollout(
        driver=driver,
        first=first,
        before=before.image,
        now=(work.now or before).image,
        others=list(map(name_of, others)),
        not_held=sorted(name for name, _ in changed),
        shortfalls=work.shortfalls,
        pool=work.measured,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """The action now, on the first node."""

    act: Literal["wait", "measure", "fall short"]
    why: str = ""


def next_step(before: Loaded, now: Loaded, lacking: Sequence[str], *, failed: bool, newest: str | None) -> Step:
    """The next step. before, now: the node's driver; lacking: the reasons that keep it from use; failed: the upgrade of
    its driver has. newest: the revision of the template that the other nodes would get.
    """
    if failed:
        return Step(act="fall short", why="the upgrade of the driver has failed")
    if now == before:
        return Step(act="wait", why="another driver")
    if now.revision != newest:
        return Step(act="wait", why="the driver of the operator's newest template")
    return Step(act="wait", why=", ".join(lacking)) if lacking else Step(act="measure")


@dataclass(kw_only=True)
class FirstNode:
    """The work on the node that gets the driver first, while others are held. before: its driver then."""

    cluster: Cluster
    validation: Deployed
    driver: Driver
    name: str
    before: Loaded
    say: Say
    now: Loaded | None = None
    """Its driver when it is measured."""
    measured: Pool | None = None
    shortfalls: list[str] = field(default_factory=list)

    def observe(self) -> tuple[Step, Loaded]:
        """The node and its driver: the old one between two pods."""
        node, client = _node(self.cluster.client, self.name), self.cluster.client
        pods = self._pods()
        now = self.driver.loaded(pods).get(self.name, self.before)
        newest = self.driver.newest_revision(client, pods)
        failed, lacking = labels_of(node).get(self.driver.state) == FAILED, lacks(dict(node), self.validation.promise)
        return next_step(self.before, now, lacking, failed=failed, newest=newest), now

    def _pods(self) -> list[Object]:
        """The pods of the operator's namespace on the node."""
        pods = self.cluster.client.list(Pod, namespace=self.before.namespace, fields={"spec.nodeName": self.name})
        return [pod.to_dict() for pod in pods]

    def wait(self, why: str) -> None:
        """Report the cause."""
        self.say(f"Waiting on node {self.name}: {why}")

    def carry_out(self, step: Step, seen: Loaded) -> bool:
        """Measure the node, or note that it cannot be. If its template changes meanwhile, the next one is measured too:
        an operator that moves to another release first changes what it puts around the driver.
        """
        if step.act == "fall short":
            self.shortfalls = [f"{step.why} on node {self.name}: aks-infiniband doctor"]
            return False
        self.now = seen
        self.measured = measured_with_neighbour(
            self.cluster, self.validation, self.name, self.say, by="rollout", unmarked=self.driver.state
        )
        self.shortfalls = shortfalls_of(self.measured)
        newest = self.driver.newest_revision(self.cluster.client, self._pods())
        return not self.shortfalls and newest != seen.revision


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

    def has_a_driver_of_theirs() -> bool | None:
        held_one, driver = nodes[0], nodes[0].driver
        if held_one.first not in {name_of(node.to_dict()) for node in client.list(Node)}:
            raise CommandError(_gone(held_one.first, "whether the version went back cannot be seen there"))
        pods = [pod.to_dict() for pod in client.list(Pod, namespace="*", labels=dict([driver.pods]))]
        loaded = driver.loaded(driver.own_pods(pods, held_one.namespace))
        theirs = {loaded.get(name_of(node.node)) for node in nodes}
        return True if loaded.get(nodes[0].first) in theirs - {None} else None

    if nodes:
        note(f"Waiting until node {nodes[0].first} has the driver of the nodes that are held; Ctrl-C ends the wait")
        until(has_a_driver_of_theirs)
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
    causes = "; ".join(why) or "there are none"
    raise CommandError(f"{asked} must be idle, and have a driver that the {driver.operator} brings. {causes}")


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
    daemon_sets = [each.to_dict() for each in client.list(DaemonSet, namespace=namespace)]
    rolling = [item for item in daemon_sets if item["spec"].get("updateStrategy", {}).get("type") != "OnDelete"]
    return {str(item["metadata"]["name"]): int(item["metadata"]["generation"]) for item in rolling}


def _note_held(driver: Driver, first: str, others: int) -> None:
    note(
        f"Held back: {others} of {others + 1} nodes. Now change {driver.setting} and run {driver.update}: "
        f"node {first} gets the driver first and is measured; the others follow if it is as good. "
        "Ctrl-C leaves them held, and aks-infiniband rollout --release releases them."
    )


def _node(client: Client, first: str) -> Object:
    with refusal_allowed(HTTPStatus.NOT_FOUND):
        node: Object = client.get(Node, first).to_dict()
        return node
    raise CommandError(_gone(first, "its driver cannot be measured"))
