"""Stacks, and what of an AKS cluster `upgrade` may change for them."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.stack.load import load
from aks_infiniband_cli.machine_by_machine.upgrade.owned import owned, refuse_strange

from tests.cases import Case, patched
from tests.unit.command_line.cases.machine_by_machine import cluster_there, pool_there
from tests.unit.command_line.logged_in import ROOT
from tests.unit.components.stack_files import KUBECONFIG

THERE: Final = cluster_there("1.35.8", {name: pool_there(name) for name in ("ndh100", "web", "system")})


def outcome_of_ownership(case: Case) -> list[str]:
    """The pools that an upgrade `to` a version may change of a cluster with ndh100, web and system, in their order.
    `stack` is the name of a stack file here, with `changes`; `taken` are the pools that the stack has taken over, and
    `named` those that a person names.
    """
    config: dict[str, Any] = yaml.safe_load((ROOT / f"Pulumi.{case['stack']}.yaml").read_text())["config"]
    config = patched(config, {f"aks-infiniband:{key}": change for key, change in case.get("changes", {}).items()})
    if case["stack"] == "existing":
        config["aks-infiniband:existingCluster"]["kubeconfig"] = str(KUBECONFIG)
    mine = owned(load(config), Path("Pulumi.lab.yaml"))
    pools = (replace(mine, pools=tuple(case["taken"])) if "taken" in case else mine).among(THERE.pools)
    refuse_strange(case.get("named", ()), pools)
    mine.require_control_plane(THERE, case.get("to", "1.35"))
    return list(pools)
