"""What the simulated Azure asks of alerts for Azure Managed Prometheus."""

import pytest

from rehearsal.azure.wire import Properties
from tests.unit.azure.asking import Azure, RefusedError, cluster_inputs

RULES = "alertsmanagement:PrometheusRuleGroup"
WORKSPACE = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Monitor/accounts/w"


def test_alerts_are_for_a_cluster_that_is_there_and_go_with_its_group(azure: Azure, group: Properties) -> None:
    cluster = azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
    wanted = {"resourceGroupName": group["name"], "ruleGroupName": "hcas", "location": "southcentralus"}
    rule = {"alert": "LinkDown", "expression": "up == 0", "for": "PT2M", "severity": 0}
    made = azure.create(RULES, "hcas", **wanted, scopes=[WORKSPACE, cluster["id"]], rules=[rule])
    assert made["rules"] == [rule]
    assert azure.read(RULES, "hcas", made["id"])["scopes"] == [WORKSPACE, cluster["id"]]
    other = {**wanted, "ruleGroupName": "others", "scopes": [WORKSPACE, f"{cluster['id']}other"]}
    with pytest.raises(RefusedError, match="other' under resource group"):
        azure.create(RULES, "others", **other, rules=[rule])
    azure.delete("resources:ResourceGroup", "group", group)
    assert azure.read(RULES, "hcas", made["id"]) == {}
