"""The simulated Azure's requirements for alerts of Azure Managed Prometheus."""

from typing import Any

import pytest
from aks_infiniband.observability.documents import rules

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, RefusedError, cluster_inputs

RULES = "alertsmanagement:PrometheusRuleGroup"
(WORKSPACE,) = SUBSCRIPTION.monitor_workspaces


RULE = {"alert": "LinkDown", "expression": "up == 0", "for": "PT2M", "severity": 0}


def wanted(group: Properties, name: str = "hcas", **changed: Any) -> dict[str, Any]:
    named = {"resourceGroupName": group["name"], "ruleGroupName": name, "location": "southcentralus"}
    return {**named, "scopes": [WORKSPACE], "rules": [RULE], **changed}


def test_alerts_are_for_a_cluster_that_is_there_and_go_with_its_group(azure: Azure, group: Properties) -> None:
    cluster = azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
    made = azure.create(RULES, "hcas", **wanted(group, scopes=[WORKSPACE, cluster["id"]]))
    assert made["rules"] == [RULE]
    assert azure.read(RULES, "hcas", made["id"])["scopes"] == [WORKSPACE, cluster["id"]]
    with pytest.raises(RefusedError, match="other' under resource group"):
        azure.create(RULES, "others", **wanted(group, "others", scopes=[WORKSPACE, f"{cluster['id']}other"]))
    azure.delete("resources:ResourceGroup", "group", group)
    assert azure.read(RULES, "hcas", made["id"]) == {}


def test_the_programs_own_alerts_are_not(azure: Azure, group: Properties) -> None:
    for ours in rules()["groups"]:
        given = [{**RULE, "alert": rule["alert"], "expression": rule["expr"]} for rule in ours["rules"]]
        assert azure.create(RULES, ours["name"], **wanted(group, ours["name"], rules=given))["rules"] == given
