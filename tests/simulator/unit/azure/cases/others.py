"""Cases of arguments, of files, and of resources other than clusters and pools: what is wrong with them."""

import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pulumi_azure_native import containerservice, network

from rehearsal.azure.described import ResourcesFileError, described_kinds
from rehearsal.azure.models import check_arguments
from rehearsal.azure.subscription import DEFAULT_FILE, SubscriptionFileError, load
from rehearsal.azure.wire import UNKNOWN, Properties
from tests.cases import Case, patched, replaced
from tests.simulator.unit.azure.asking import FEATURE, SUBSCRIPTION, RefusedError, deployment_inputs, registration
from tests.simulator.unit.azure.cases.families import Conversation, refusal

ARGUMENTS: Final[Mapping[str, tuple[type, Properties]]] = {
    "pool": (
        containerservice.AgentPoolArgs,
        {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "p", "vmSize": "x", "count": 1},
    ),
    "cluster": (containerservice.ManagedClusterArgs, {"resourceGroupName": "rg"}),
    "subnet": (network.SubnetInitArgs, {"resourceGroupName": "rg", "virtualNetworkName": "n"}),
}
"""By its name in cases, the arguments of a type, and the usual inputs."""
RULE: Final = {"alert": "LinkDown", "expression": "up == 0", "for": "PT2M", "severity": 0}
TYPES: Final = {
    "alerts": "alertsmanagement:PrometheusRuleGroup",
    "subnet": "network:Subnet",
    "assignment": "authorization:RoleAssignment",
    "deployment": "resources:DeploymentAtSubscriptionScope",
    "registration": "features:SubscriptionFeatureRegistration",
}
"""By its name in cases, the type of a resource."""
NAMES: Final = dict(zip(("providerNamespace", "featureName"), FEATURE.split("/"), strict=True))
CONTRIBUTOR: Final = "/providers/Microsoft.Authorization/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"


def outcome_of_arguments(case: Case) -> list[str]:
    """The faults of a type's inputs."""
    ((kind, change),) = case.items()
    arguments, usual = ARGUMENTS[kind]
    inputs = {key: UNKNOWN if value == "UNKNOWN" else value for key, value in patched(usual, change).items()}
    return [f"{failure.path}: {failure.reason}" for failure in check_arguments(arguments, inputs)]


def outcome_of_files(case: Case) -> str:
    """The refusal of a subscription's file with a change, or of a text that describes resources."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mine.yaml")
        try:
            if "resources" in case:
                file.write_text(case["resources"])
                described_kinds(file)
            else:
                file.write_text(yaml.safe_dump(patched(yaml.safe_load(DEFAULT_FILE.read_text()), case["subscription"])))
                load(file)
        except (ResourcesFileError, SubscriptionFileError) as error:
            return str(error).replace(f"{folder}/", "")
    return "taken"


def outcome_of_resources(case: Case) -> Any:
    """The refusal of a resource, if it is one, and the state of the feature that a deployment registers."""
    conversation = Conversation({})
    azure, group = conversation.azure, conversation.group
    ((kind, change),) = case.items()
    inputs = replaced(
        patched(usual_inputs(conversation)[kind], change), "WORKSPACE", next(iter(SUBSCRIPTION.monitor_workspaces))
    )
    if kind == "alerts":
        inputs["rules"] = [patched(RULE, rule) for rule in inputs["rules"]]
    if kind == "subnet":
        azure.create(TYPES[kind], "nodes", **{**inputs, "addressPrefix": "10.10.0.0/24"})
    try:
        azure.create(TYPES[kind], "x", **inputs)
    except RefusedError as error:
        refused = re.sub(r"(['/]net)\w{8}", r"\1", refusal(str(error)).replace(group["name"], "rg"))
    else:
        refused = "no"
    state = azure.invoke("features:getSubscriptionFeatureRegistration", **NAMES)["properties"]["state"]
    return {"refused": refused, "feature": state} if kind == "deployment" else {"refused": refused}


def usual_inputs(conversation: Conversation) -> dict[str, Properties]:
    """By the name of a type, inputs that Azure takes."""
    azure, in_group = conversation.azure, {"resourceGroupName": conversation.group["name"]}
    space = {"addressPrefixes": ["10.10.0.0/16"]}
    net = azure.create("network:VirtualNetwork", "net", addressSpace=space, **in_group)
    identity = azure.create("managedidentity:UserAssignedIdentity", "aks", **in_group)
    alerts = {**in_group, "ruleGroupName": "hcas", "location": "southcentralus"}
    return {
        "alerts": {**alerts, "scopes": ["WORKSPACE"], "rules": [{}]},
        "subnet": {**in_group, "virtualNetworkName": net["name"], "addressPrefix": "10.10.1.0/24"},
        "assignment": {
            "principalId": identity["principalId"],
            "principalType": "ServicePrincipal",
            "scope": conversation.group["id"],
            "roleDefinitionId": CONTRIBUTOR,
        },
        "deployment": deployment_inputs(registration()),
        "registration": dict(NAMES),
    }


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "arguments": outcome_of_arguments,
    "files": outcome_of_files,
    "resources": outcome_of_resources,
}
"""By the first word of a file's name, what gives the outcome of a case."""
