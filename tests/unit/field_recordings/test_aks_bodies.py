"""All readers of AKS's answers read its recorded ones rightly."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.access import kubeconfig
from aks_infiniband.azure.agent_pool import NodePoolError
from aks_infiniband.diagnosis.azure import is_transient
from aks_infiniband_cli.azure.answers import Deployed, Group, Machines
from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.errors import words_of
from aks_infiniband_cli.azure.subscription import Azure
from aks_infiniband_cli.teardown.left import groups_of
from azure.core.exceptions import HttpResponseError, ServiceRequestError
from azure.mgmt.core.exceptions import ARMErrorFormat

from declared.pulumi_mocks import Deploy
from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import SUBSCRIPTION, Credential, logged_in
from tests.unit.components.azure_programs import CLUSTER, POOL, cluster, node_pool
from tests.unit.field_recordings.recordings import excerpt, recorded, recordings
from tests.unit.field_recordings.shapes import body, flat

KUBECONFIG = base64.b64encode(excerpt("aks-credentials").encode()).decode()


class Answer:
    """An answer with a body, as Azure's clients have it."""

    reason, status_code = "Conflict", 409
    request: Any = None

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        return self._text


class RecordedAks(Arm):
    """Answers what AKS was recorded to answer. The cluster `none` does not exist."""

    def answer(self, path: str, _query: str) -> tuple[int, Any]:
        if path.endswith("/kubernetesVersions"):
            return self._recorded("aks-kubernetes-versions")
        return self._recorded("aks-cluster-not-found" if path.endswith("/none") else "aks-cluster")

    def _recorded(self, name: str) -> tuple[int, Any]:
        return recordings()[name]["status"], body(name)


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Azure]:
    folder: Path = tmp_path_factory.mktemp("azure")
    with pytest.MonkeyPatch.context() as patch, logged_in(RecordedAks(), folder, patch) as url:
        yield Azure(Clients(Credential(), url, SUBSCRIPTION))


def test_the_preflight_reads_version_and_pools_of_a_cluster(azure: Azure) -> None:
    image = "AKSUbuntu-2404gen2containerd-202606.08.1"
    pools = {"nodepool1": Machines(vm_size="Standard_D8a_v4", count=3, image=image)}
    assert azure.deployed("clitest000001", "cliakstest000002") == Deployed(
        region="eastus2euap", version="1.35.5", pools=pools
    )


def test_the_preflight_takes_a_cluster_that_is_not_there_for_none(azure: Azure) -> None:
    assert azure.deployed("clitest000001", "none") is None


def test_the_preflight_reads_the_support_plans_of_minor_versions_and_patches(azure: Azure) -> None:
    offered = azure.kubernetes_versions("westcentralus")
    assert {name: tuple(plans) for name, plans in offered.items() if name.startswith(("1.26", "1.27"))} == {
        **dict.fromkeys(("1.26", "1.26.0", "1.26.3"), ("KubernetesOfficial",)),
        **dict.fromkeys(("1.27", "1.27.1"), ("KubernetesOfficial", "AKSLongTermSupport")),
    }


def test_the_program_takes_a_pool_with_the_driver_that_it_asked_for_and_no_other(deploy: Deploy) -> None:
    there = {POOL: flat(body("aks-pool-gpu"))}
    deploy(lambda: node_pool(gpu_driver="aks").ready, outputs=there)
    with pytest.raises(NodePoolError, match=r"gpuProfile\.driver Install in Azure; it must be None"):
        deploy(lambda: node_pool(gpu_driver="operator").ready, outputs=there)


def test_the_program_says_in_which_state_a_pool_is_that_did_not_succeed(deploy: Deploy) -> None:
    with pytest.raises(NodePoolError, match="is Stopping in Azure"):
        deploy(lambda: node_pool().ready, outputs={POOL: flat(body("aks-pool-stopped"))})


def test_the_program_reads_the_clusters_issuer(deploy: Deploy) -> None:
    there = flat(body("aks-cluster"))
    made = deploy(lambda: cluster().oidc_issuer_url, outputs={CLUSTER: there})
    assert made.result == there["oidcIssuerProfile"]["issuerURL"]


def test_the_kubeconfig_with_a_certificate_is_taken_as_it_is_and_of_one_for_kubelogin_the_server_is_kept() -> None:
    assert kubeconfig.decode(KUBECONFIG) == excerpt("aks-credentials")
    made = yaml.safe_load(kubeconfig.with_kubelogin(KUBECONFIG, "azurecli"))
    assert made["clusters"] == yaml.safe_load(excerpt("aks-credentials"))["clusters"]


def test_the_teardown_finds_the_machines_group_by_the_ids_case_that_aks_writes() -> None:
    found = body("aks-cluster")
    machines = Group(name=found["properties"]["nodeResourceGroup"], managed_by="")
    others = Group(name=f"{machines.name}2", managed_by="")
    kept = groups_of([machines, others], cluster_id=found["id"], location=found["location"], node_group=None)
    assert kept == [machines]


def test_a_conflict_that_no_operation_in_progress_makes_is_not_tried_again() -> None:
    assert not is_transient(excerpt("aks-cluster-refused"))


@pytest.mark.parametrize(
    ("recording", "told"),
    [
        (
            "aks-cluster-refused",
            "OperationNotAllowed: Operation 'PutManagedClusterHandler.PUT' is blocked by node disruption policy.",
        ),
        (
            "aks-cluster-not-found",
            "ResourceNotFound: The Resource 'Microsoft.ContainerService/managedClusters/cliakstest000002' under "
            "resource group 'clitest000001' was not found. For more details please go to "
            "https://aka.ms/ARMResourceNotFoundFix",
        ),
    ],
)
def test_every_command_tells_code_and_words_of_both_forms_of_a_refusal(recording: str, told: str) -> None:
    assert words_of(HttpResponseError(response=Answer(excerpt(recording)), error_format=ARMErrorFormat)) == told


def test_the_cause_that_aks_tells_in_details_is_told() -> None:
    said = {
        "code": "ResourceOperationFailure",
        "message": "The resource operation completed with terminal provisioning state 'Failed'.",
        "details": [{"code": "OriginalEtagNotExpect", "message": "preempted by Deleting operation", "details": [{}]}],
    }
    assert words_of(HttpResponseError(response=Answer(json.dumps({"status": "Failed", "error": said})))) == (
        "ResourceOperationFailure: The resource operation completed with terminal provisioning state 'Failed'. "
        "(OriginalEtagNotExpect: preempted by Deleting operation)"
    )


def test_an_answer_that_is_no_error_of_azures_is_told_in_one_line() -> None:
    assert words_of(HttpResponseError(response=Answer("<html>"))) == "Operation returned an invalid status 'Conflict'"
    assert words_of(ServiceRequestError("Name or service not known")) == "Name or service not known"


def test_no_answer_says_when_to_come_again_so_whoever_polls_decides() -> None:
    answered = [entry["headers"] for entry in recorded("aks-bodies") if "headers" in entry]
    assert answered
    assert not [headers for headers in answered if "retry-after" in {name.lower() for name in headers}]
