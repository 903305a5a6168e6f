"""Alerts of Azure Managed Prometheus: groups of rules for a workspace, which is somebody else's, and a cluster."""

from typing import Any, Final

from pulumi_azure_native import alertsmanagement

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import not_found
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.resources.groups import base_outputs, located

_CLUSTER: Final = "Microsoft.ContainerService/managedClusters"


def _refuse(cloud: Cloud, request: Request) -> None:
    """A cluster among the scopes must be there; the words are assumed. Every workspace is taken for one that is."""
    located(cloud, request, PROMETHEUS_RULE_GROUP.arm_type)
    for scope in request.inputs["scopes"]:
        if f"/{_CLUSTER}/".lower() in scope.lower() and cloud.store.get(scope) is None:
            raise not_found(_CLUSTER, naming.last_part(scope), scope.split("/")[4])


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
