"""The program's own alerts are such as the simulated Azure Monitor takes."""

from aks_infiniband.observability.documents import rules

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure
from tests.simulator.unit.azure.cases.families import RULE, TYPES, USUAL_INPUTS


def test_the_programs_own_alerts_are_not_refused(azure: Azure, group: Properties) -> None:
    for ours in rules()["groups"]:
        given = [{**RULE, "alert": rule["alert"], "expression": rule["expr"]} for rule in ours["rules"]]
        named = {"resourceGroupName": group["name"], "ruleGroupName": ours["name"]}
        made = azure.create(*TYPES["alerts"], **{**USUAL_INPUTS["alerts"], **named, "rules": given})
        assert made["rules"] == given
