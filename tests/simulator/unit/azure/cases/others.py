"""Cases of arguments, of files, and of resources other than clusters and pools: what is wrong with them."""

import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from pulumi_azure_native import containerservice, network

from rehearsal.azure import kubelogin
from rehearsal.azure.described import ResourcesFileError, described_kinds
from rehearsal.azure.models import check_arguments
from rehearsal.azure.subscription import DEFAULT_FILE, SubscriptionFileError, load
from rehearsal.azure.wire import UNKNOWN, Properties
from tests.cases import Case, patched, replaced
from tests.simulator.unit.azure.asking import SUBSCRIPTION
from tests.simulator.unit.azure.cases.families import RULE, Conversation, feature_state, without_made_up

ARGUMENTS: Final[Mapping[str, tuple[type, Properties]]] = {
    "pool": (
        containerservice.AgentPoolArgs,
        {"resourceGroupName": "rg", "resourceName": "aks", "agentPoolName": "p", "vmSize": "x", "count": 1},
    ),
    "cluster": (containerservice.ManagedClusterArgs, {"resourceGroupName": "rg"}),
    "subnet": (network.SubnetInitArgs, {"resourceGroupName": "rg", "virtualNetworkName": "n"}),
}
"""By its name in cases, the arguments of a type, and the usual inputs."""


TOKENS: Final = 'top,entra:administrator,entra:administrator,"system:masters"\nlow,entra:user,entra:user\n'


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
    ((kind, change),) = case.items()
    for there in ("network", "subnet", "identity"):
        conversation.ask(there, {})
    if kind == "alerts" and "rules" in change:
        change = {**change, "rules": [patched(RULE, rule) for rule in change["rules"]]}
    change = replaced(change, "WORKSPACE", next(iter(SUBSCRIPTION.monitor_workspaces)))
    refused = conversation.refusal_of(kind, change) or "no"
    return {"refused": refused, **({"feature": feature_state(conversation)} if kind == "deployment" else {})}


def outcome_of_kubelogin(case: Case) -> dict[str, Any]:
    """The status and output of kubelogin, in a rehearsal whose file of access says what the case says."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("azure", "pki"):
            Path(folder, name).mkdir()
        Path(folder, "pki", "tokens.csv").write_text(TOKENS)
        if "administrator" in case:
            Path(folder, "azure", "access.json").write_text(json.dumps({"administrator": case["administrator"]}))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                environment = {"AKS_INFINIBAND_REHEARSAL": folder, **case.get("environment", {})}
                status = kubelogin.main(["get-token", *case["arguments"].split()], environment)
            except SystemExit as error:
                status = int(str(error.code))
    printed = json.loads(out.getvalue() or "null")
    if printed and printed["status"]["token"] not in TOKENS:
        printed["status"]["token"] = "unknown"
    return {"status": status, "prints": without_made_up(printed), "says": " ".join(err.getvalue().split())}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "arguments": outcome_of_arguments,
    "files": outcome_of_files,
    "resources": outcome_of_resources,
    "kubelogin": outcome_of_kubelogin,
}
"""By the first word of a file's name, what gives the outcome of a case."""
