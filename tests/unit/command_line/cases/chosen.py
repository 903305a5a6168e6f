"""Nodes and pods of a pool, and the nodes that `validate` measures."""

from typing import Any, Final

from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.nodes import choose, place_of

from tests.cases import Case, patched
from tests.unit.command_line.validations import POOL, node, pod, validation

_OPERATORS: Final = {*OPERATOR_NAMESPACES, "nvidia-network-operator"}


def outcome_of_choice(case: Case) -> dict[str, Any] | str:
    """The nodes that are measured, and why others are left out. `nodes` and `pods` have the differences from usual ones
    by name; a pod has a `node` and `requests` resources. `place` is a node that a person names.
    """
    deployed = validation(POOL.changed(**case.get("pool", {})))
    nodes = [patched(node(name), change) for name, change in case["nodes"].items()]
    if "place" in case:
        try:
            return str(place_of({"ndh100": deployed}, nodes, case["place"])[0])
        except CommandError as error:
            return str(error)
    pods = [pod_of(name, change) for name, change in case.get("pods", {}).items()]
    options: dict[str, Any] = {"include_busy": False, "wanted": (), **case.get("options", {})}
    chosen, left = choose(nodes, pods, deployed, operators=_OPERATORS, **options)
    assert all(each.busy == each.why.startswith("busy: ") for each in left)
    return {
        "measured": [each["metadata"]["name"] for each in chosen],
        "left out": {each.node: each.why for each in left},
    }


def pod_of(name: str, change: Case) -> dict[str, Any]:
    """A pod with the differences from a usual one: its `node`, a `volume`, resources that it `requests`, and more."""
    more = {**change}
    made = pod(name, more.pop("node"), volume=more.pop("volume", ""), **more.pop("requests", {}))
    return dict(patched(made, more))
