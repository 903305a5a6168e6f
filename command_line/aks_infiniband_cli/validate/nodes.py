"""The nodes of a pool that are measured: idle, and with everything that the pool promises."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from aks_infiniband.diagnosis.asks import DEVICES, asks_of, is_rdma
from aks_infiniband.diagnosis.ownership import is_of_daemon_set, is_over, owner_of
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES
from aks_infiniband.validation.reports import lacks

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed, Object


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """A node that is not measured."""

    node: str
    why: str
    busy: bool = False
    """True if it is in use; otherwise it cannot be measured as it is."""


def name_of(node: Object) -> str:
    """The name of a node, or of a pod."""
    return str(node["metadata"]["name"])


def nodes_of(nodes: Sequence[Object], validation: Deployed) -> list[Object]:
    """The nodes of the validation's pool."""
    selector = validation.node_selector.items()
    return [node for node in nodes if selector <= (node["metadata"].get("labels") or {}).items()]


def node_called(nodes: Sequence[Object], name: str) -> Object:
    """The node of this name. Raises CommandError for one that is not there."""
    called = next((node for node in nodes if name_of(node) == name), None)
    if called is None:
        there = ", ".join(sorted(map(name_of, nodes))) or "none"
        raise CommandError(f"node {name} does not exist; the nodes are: {there}")
    return called


def validation_of(validations: Mapping[str, Deployed], node: Object) -> Deployed | None:
    """The validation of a node's pool; None if no stack validates it."""
    return next((each for each in validations.values() if nodes_of([node], each)), None)


def place_of(validations: Mapping[str, Deployed], nodes: Sequence[Object], name: str) -> tuple[str, Deployed, Object]:
    """The pool of a node, its validation, and the node.

    Raises CommandError for a node that is not there, or that no stack validates.
    """
    node = node_called(nodes, name)
    validation = validation_of(validations, node)
    if validation is None:
        pools = ", ".join(sorted(validations)) or "none"
        raise CommandError(
            f"node {name} is there, and no stack validates it (pools that a stack validates: {pools}). `pulumi up` "
            "does it with a pool whose nodeSelector the node has; `aks-infiniband doctor`, `validate --pool` and "
            "`evidence` need no stack"
        )
    return validation.pool, validation, node


def choose(
    nodes: Sequence[Object],
    pods: Sequence[Object],
    validation: Deployed,
    *,
    wanted: Collection[str],
    include_busy: bool,
    operators: Collection[str] = OPERATOR_NAMESPACES,
) -> tuple[list[Object], list[LeftOut]]:
    """The nodes of the pool that are measured, and those that are not.

    pods: of all namespaces. wanted: names of nodes; empty for every node of the pool. include_busy: measure nodes that
    are in use, too. operators: their namespaces.
    """
    chosen, left_out = list[Object](), list[LeftOut]()
    for node in sorted(nodes_of(nodes, validation), key=name_of):
        if wanted and name_of(node) not in wanted:
            continue
        unusable = ", ".join(lacks(dict(node), validation.promise))
        why = unusable or ("" if include_busy else busy(name_of(node), pods, validation, operators))
        if why:
            left_out.append(LeftOut(node=name_of(node), why=why, busy=not unusable))
        else:
            chosen.append(node)
    return chosen, left_out


def busy(
    node: str, pods: Sequence[Object], validation: Deployed, operators: Collection[str] = OPERATOR_NAMESPACES
) -> str:
    """The pods that use the RDMA or GPU resources of a node of the pool, in words; empty if no pod does.

    operators: their namespaces. Their DaemonSets, AKS's and ours have the node's devices to serve them.
    """
    for pod in pods:
        if is_over(pod) or (pod.get("spec") or {}).get("nodeName") != node:
            continue
        if is_of_daemon_set(pod) and owner_of(pod, {*operators, validation.namespace}) != "another":
            continue
        held = next(_held(pod, validation.resources), None)
        if held:
            metadata = pod["metadata"]
            return f"busy: pod {metadata['namespace']}/{metadata['name']} has {held}"
    return ""


def _held(pod: Object, resources: Collection[str]) -> Iterator[str]:
    asked = asks_of(pod)
    yield from (name for name in resources if name in asked.resources)
    if not any(map(is_rdma, resources)):  # mode dra: pods claim devices; driver-only: mount them
        yield from (f"claim {name}" for name in asked.claims)
        if asked.mounts_infiniband:
            yield DEVICES
