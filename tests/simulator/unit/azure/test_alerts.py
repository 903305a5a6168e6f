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


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"scopes": []}, "one Azure Monitor workspace"),
        ({"scopes": [WORKSPACE, f"{WORKSPACE}2"]}, "one Azure Monitor workspace"),
        ({"scopes": [WORKSPACE, WORKSPACE.replace("accounts/w", "pipelineGroups/w")]}, "if any, clusters"),
        ({"scopes": [f"{WORKSPACE}2"]}, "Microsoft.Monitor/accounts/prometheus2' under resource group 'monitoring'"),
        ({"interval": "PT30S"}, "between 1 and 15 minutes: properties.interval"),
        ({"rules": [{**RULE, "for": "2m"}]}, r"2m is not a duration of ISO 8601: properties.rules\[0\].for"),
        ({"rules": [{**RULE, "resolveConfiguration": {"timeToResolve": "10m"}}]}, "10m is not a duration"),
        ({"rules": [{**RULE, "severity": 5}]}, "severity is not between 0 and 4"),
        ({"rules": [{**RULE, "record": "down"}]}, "either alerts or records"),
        ({"rules": [RULE] * 21}, "at most 20 rules, and this one 21"),
        ({"rules": [RULE, {**RULE, "expression": "increase(a[15m] > 0"}]}, r"rules\[1\].expression"),
        ({"rules": [{**RULE, "expression": 'a{b="c}'}]}, "not PromQL"),
        ({"rules": [{**RULE, "expression": " "}]}, "not PromQL"),
    ],
)
def test_a_group_that_azure_monitor_cannot_evaluate_is_refused(
    azure: Azure, group: Properties, changed: dict[str, Any], why: str
) -> None:
    with pytest.raises(RefusedError, match=why):
        azure.create(RULES, "hcas", **wanted(group, **changed))


def test_the_programs_own_alerts_are_not(azure: Azure, group: Properties) -> None:
    for ours in rules()["groups"]:
        given = [{**RULE, "alert": rule["alert"], "expression": rule["expr"]} for rule in ours["rules"]]
        assert azure.create(RULES, ours["name"], **wanted(group, ours["name"], rules=given))["rules"] == given
