"""Alerts of Azure Managed Prometheus: groups of rules for a workspace, which others own, and a cluster.

The requirements for a group: MicrosoftDocs/azure-monitor-docs 12b4ca1, prometheus-rule-groups.md of 2024-11-09, and API
version 2023-03-01 (Azure/azure-rest-api-specs a78275f, PrometheusRuleGroups/models.tsp, read 2026-11-23); the words in
which Azure refuses one that is not are assumed. The answer has what it was given and nothing else (recorded on
2023-04-21: Azure/azure-cli-extensions 7380c3b, test_alertsmanagement_prometheus_rule_group.yaml).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pulumi_azure_native import alertsmanagement

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import not_found, refused
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.resources.groups import base_outputs, located
from rehearsal.azure.subscription import by_id

_CLUSTER: Final = "Microsoft.ContainerService/managedClusters"
_WORKSPACE: Final = "Microsoft.Monitor/accounts"
_CLUSTERS: Final = (_CLUSTER, "Microsoft.Kubernetes/connectedClusters", "Microsoft.ResourceConnector/appliances")
_MOST_RULES: Final = 20
_BRACKETS: Final = {")": "(", "]": "[", "}": "{"}


def _refuse(cloud: Cloud, request: Request) -> None:
    located(cloud, request, PROMETHEUS_RULE_GROUP.arm_type)
    scopes, rules = request.inputs["scopes"], request.inputs["rules"]
    kinds = [next((kind for kind in (_WORKSPACE, *_CLUSTERS) if _is(scope, kind)), None) for scope in scopes]
    if kinds.count(_WORKSPACE) != 1 or None in kinds:
        raise _refused("The scopes must be one Azure Monitor workspace and, if any, clusters", "properties.scopes")
    for scope in scopes:
        there = {_CLUSTER: cloud.store.get(scope), _WORKSPACE: by_id(cloud.subscription.monitor_workspaces, scope)}
        for kind in (kind for kind, record in there.items() if _is(scope, kind) and record is None):
            raise not_found(kind, naming.last_part(scope), scope.split("/")[4])
    if len(rules) > _MOST_RULES:
        raise _refused(f"A group has at most {_MOST_RULES} rules, and this one {len(rules)}", "properties.rules")
    if not 60 <= _seconds(request.inputs.get("interval", "PT1M")) <= 900:
        raise _refused("The interval is not between 1 and 15 minutes", "properties.interval")
    for number, rule in enumerate(rules):
        for why, key in _mistakes(rule):
            raise _refused(why, f"properties.rules[{number}].{key}")


def _mistakes(rule: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Why a rule is refused, and by which of its properties."""
    if not _closed(rule["expression"]):
        yield "The expression is not PromQL", "expression"
    if ("alert" in rule) == ("record" in rule):
        yield "A rule either alerts or records", "alert"
    if not 0 <= rule.get("severity", 0) <= 4:
        yield "The severity is not between 0 and 4", "severity"
    for key, value in (("for", rule.get("for")), *(rule.get("resolveConfiguration") or {}).items()):
        if key in ("for", "timeToResolve") and value is not None and _seconds(value) < 0:
            yield f"{value} is not a duration of ISO 8601", key


def _seconds(duration: str) -> int:
    """The seconds of a duration in ISO 8601, as rules have them; -1 for a text that is not a duration."""
    match = re.fullmatch(r"PT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?", duration)
    hours, minutes, seconds = (int(part or 0) for part in match.groups()) if match else (0, 0, -1)
    return hours * 3600 + minutes * 60 + seconds


def _is(scope: str, kind: str) -> bool:
    return f"/providers/{kind}/".lower() in scope.lower()


def _refused(why: str, target: str) -> Exception:
    return refused("alert-rule", why=why, target=target)


def _closed(expression: str) -> bool:
    """True if an expression says something and each of its brackets and quotes is closed; promtool reads all of it."""
    waiting = list[str]()
    unquoted = re.sub(r"""(["'`])(\\.|(?!\1).)*\1""", "0", expression)
    for character in unquoted:
        if character in _BRACKETS.values():
            waiting.append(character)
        elif character in _BRACKETS and (not waiting or waiting.pop() != _BRACKETS[character]):
            return False
    return bool(unquoted.strip()) and not waiting and not set(unquoted) & set("\"'`")


def _render(_cloud: Cloud, request: Request) -> dict[str, Any]:
    kind = PROMETHEUS_RULE_GROUP
    return base_outputs(kind.path, request, kind.arm_type, kind.api_version)


PROMETHEUS_RULE_GROUP: Final[Kind] = Kind(
    pulumi_type="azure-native:alertsmanagement:PrometheusRuleGroup",
    arguments=alertsmanagement.PrometheusRuleGroupArgs,
    resource=alertsmanagement.PrometheusRuleGroup,
    arm_type="Microsoft.AlertsManagement/prometheusRuleGroups",
    path=(
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.AlertsManagement"
        "/prometheusRuleGroups/{ruleGroupName}"
    ),
    naming="random",
    name_rule=naming.PROMETHEUS_RULE_GROUP,
    force_new=frozenset({"location"}),
    refuse_create=_refuse,
    refuse_update=_refuse,
    render=_render,
)
