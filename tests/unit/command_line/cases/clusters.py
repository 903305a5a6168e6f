"""Clusters that commands read, without a server."""

from types import SimpleNamespace
from typing import Any

import pytest
from aks_infiniband.operators.offered import Seen
from aks_infiniband_cli.bad_machines.evidence import collecting
from aks_infiniband_cli.validate import cordon, validating
from aks_infiniband_cli.validate.run import Measured
from aks_infiniband_cli.validate.unmanaged import plan
from httpx2 import HTTPError

from tests.cases import Case, patched
from tests.unit.command_line.cases.chosen import pod_of
from tests.unit.command_line.cases.ways import node as other_node
from tests.unit.command_line.test_report_page import report
from tests.unit.command_line.validations import node, validation


class Silent:
    """An API server without objects, whose pods say nothing."""

    def get(self, *_: Any, **__: Any) -> Any:
        return SimpleNamespace(to_dict=dict)

    def list(self, *_: Any, **__: Any) -> list[Any]:
        return []


def patch_cluster(cluster: Case, patch: pytest.MonkeyPatch) -> None:
    """Have commands read this cluster. `nodes` and `pods` have the differences from usual ones of a pool that a stack
    validates, `others` are nodes that no stack does. `unread`: what cannot be read; `measured`: the differences of the
    report of a measurement from a usual one, or null if nothing can be measured. No node may be cordoned.
    """
    nodes = [patched(node(name), change) for name, change in cluster.get("nodes", {}).items()]
    nodes += [other_node(name, **more) for name, more in cluster.get("others", {}).items()]
    pods = [pod_of(name, change) for name, change in cluster.get("pods", {}).items()]
    validations = {"ndh100": validation()} if "nodes" in cluster else {}

    def measure(*_: Any) -> Any:
        change = cluster["measured"]
        return {} if change is None else {"ndh100": Measured(report=patched(report(networks=[]), change))}

    def refuse(*_: Any) -> Any:
        raise HTTPError("nodes is forbidden")

    for module in (validating, collecting):
        patch.setattr(module, "read_cluster", lambda *_: (validations, nodes, pods))
    patch.setattr(collecting, "connected", lambda _: Silent())
    patch.setattr(validating, "operators_in", lambda _: set())
    patch.setattr(validating, "measure", measure)
    patch.setattr(cordon, "cordon", refuse)
    patch.setattr(plan, "offers", lambda _: (Seen(), cluster.get("unread", [])))
