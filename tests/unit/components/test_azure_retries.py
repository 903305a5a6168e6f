"""Failed operations in Azure: what is tried again, how long, and what is said of the rest."""

import asyncio
from typing import Any

import pulumi
import pytest
from aks_infiniband.diagnosis import azure, azure_operation
from aks_infiniband.diagnosis.azure import MOST_RETRIES, azure_findings, explanation, is_transient, pause_before_retry

BUSY = (
    'Status=409 Code="OperationNotAllowed" Message="Operation is not allowed: Another agentpool operation (nodepool1 - '
    'Creating) is in progress, please wait for it to finish before starting a new operation."'
)
CANCELED = "The operation was overriden and canceled by a later operation 5d2c"
LEFT_BEHIND = "1 error occurred:\n\t* {}\n\n"
"""The engine's words for the failure of an operation that left a resource behind."""
NO_CAPACITY = {
    "AllocationFailed": "lacks capacity for the size in this region",
    "ZonalAllocationFailed": "lacks capacity for the size in this zone",
    "OverconstrainedAllocationRequest": "every constraint at once",
    "OverconstrainedZonalAllocationRequest": "every constraint at once",
    "SkuNotAvailable": "not offered to this subscription",
    "QuotaExceeded": "vCPU quota",
}


def failed(*errors: str, operation: Any = "create", inputs: Any = None) -> Any:
    given = {"agentPoolName": "ndh100", "vmSize": "Standard_ND96isr_H100_v5"} if inputs is None else inputs
    sides = {"old_inputs": given} if operation == "delete" else {"new_inputs": given}
    return pulumi.ErrorHookArgs(
        urn="urn", id="id", name="rdma-ndh100", type="t", errors=list(errors), failed_operation=operation, **sides
    )


@pytest.mark.field_report("D3", "D4")
def test_conflicts_and_throttling_are_tried_again() -> None:
    for message in [
        BUSY,
        'Status=409 Code="OperationNotAllowed" Message="… there\'s an in progress create managed cluster operation"',
        'Status=409 Code="EtagMismatch" Message="Operation is not allowed: Another operation is in progress"',
        'Status=409 Code="AnotherOperationInProgress" Message="Another operation on this or dependent resource …"',
        'Status=429 Code="TooManyRequests" Message="The request is being throttled"',
        'Code="SubscriptionRequestsThrottled" Message="… Please try again after \'7\' seconds …"',
        'Code="RetryableError" Message="A retryable error occurred."',
        'Code="SetVNetOwnershipFailed" Message="… Status=400 Code=VirtualNetworkNotInSucceededState …"',
        'Code="ControlPlaneAddOnsNotReady" Message="Control plane add-ons are not ready."',
        'Code="OperationPreempted" Message="preempted by another one"',
        "Failed to save agent pool. OriginalEtagNotExpect: preempted by Deleting operation",
        CANCELED,
    ]:
        assert is_transient(message)
        for operation in ("create", "update", "delete"):
            assert pause_before_retry([message], operation, share=1) is not None


@pytest.mark.field_report("A3", "A3b")
@pytest.mark.parametrize(("code", "cause"), NO_CAPACITY.items())
def test_missing_capacity_and_quota_are_never_tried_again_but_explained(code: Any, cause: Any) -> None:
    message = f'Status=409 Code="{code}" Message="Provisioning failed while another operation is in progress"'
    assert pause_before_retry([message], "create", share=1) is None
    (finding,) = azure_findings(message, {"vmSize": "Standard_HB176rs_v4"})
    assert cause in str(finding.cause)
    assert finding.command, "a next step"
    text = explanation(failed(message))
    assert text.startswith("Azure did not create ndh100.")
    assert code in text
    assert cause in text
    assert "next: " in text


@pytest.mark.parametrize(
    "message",
    [
        'Code="OperationNotAllowed" Message="exceeding approved standardNDISRH100V5Family Cores quota"',
        'Code="OperationNotAllowed" Message="There has to be at least one system agent pool."',
        'Code="PropertyChangeNotAllowed"',
        'Code="OperationNotAllowed" Message="The operation cannot be performed for this size. Try another size."',
        'Code="OperationNotAllowed" Message="It is not allowed. Choose another region, where a move is in progress."',
        "Status=400 BadRequest",
        "id 1429a",
    ],
)
def test_what_will_not_pass_by_itself_fails_at_once(message: Any) -> None:
    assert pause_before_retry([message], "update", share=1) is None


@pytest.mark.parametrize(
    ("action", "cause"),
    [
        (
            "Microsoft.Compute/capacityReservationGroups/deploy/action",
            "may take 60 minutes to see one that was just given",
        ),
        ("Microsoft.Authorization/roleAssignments/write", "may not assign roles there"),
    ],
)
def test_a_missing_permission_says_who_needs_which(action: Any, cause: Any) -> None:
    message = f'Status=403 Code="AuthorizationFailed" Message="… to perform action \'{action}\' over scope …"'
    (finding,) = azure_findings(message, {})
    assert cause in str(finding.cause)
    assert "identityId" in str(finding.cause)


def test_a_size_that_is_not_offered_is_looked_up_by_its_name() -> None:
    (finding,) = azure_findings("SkuNotAvailable", {"vmSize": "Standard_HB176rs_v4"})
    assert "--size Standard_HB176rs_v4" in str(finding.command)


def test_pauses_double_up_to_a_longest_one_and_end() -> None:
    pauses = [pause_before_retry([BUSY] * tries, "create", share=1) for tries in range(1, MOST_RETRIES + 2)]
    assert pauses[:7] == [5, 10, 20, 40, 80, 120, 120]
    assert pauses[-1] is None
    assert all(pauses[:-1])
    assert sum(pause or 0 for pause in pauses) > 30 * 60, "longer than AKS works on one pool"


def test_pools_that_met_do_not_meet_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    answers = [asyncio.run(azure.on_error_of_azure(failed(*[BUSY] * 6))) for _ in range(20)]
    assert all(answers)
    assert len(set(pauses)) > 10
    assert all(60 <= pause <= 120 for pause in pauses)


@pytest.mark.field_report("D4")
def test_azure_is_left_alone_for_as_long_as_it_asks() -> None:
    message = 'Code="SubscriptionRequestsThrottled" Message="Please try again after \'33\' seconds"'
    assert pause_before_retry([message], "update", share=0.5) == 33


@pytest.mark.field_report("D3")
def test_a_creation_that_azure_had_accepted_is_not_created_again() -> None:
    """azure-native refuses to create what exists, and the engine would forget what the first try had left."""
    accepted = LEFT_BEHIND.format(CANCELED)
    assert pause_before_retry([accepted], "create", share=1) is None
    assert pause_before_retry([accepted], "update", share=1) is not None
    text = explanation(failed(accepted))
    assert "next: pulumi up" in text
    assert "the next run repairs it" in text


def test_every_retry_is_told_with_what_azure_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: said.append(text))
    monkeypatch.setattr(azure, "_FIRST_PAUSE_SECONDS", 0.001)
    assert asyncio.run(azure.on_error_of_azure(failed(BUSY, operation="delete"))) is True
    (text,) = said
    assert "rdma-ndh100: Azure refuses to delete it now: Status=409" in text
    assert "nodepool1 - Creating" in text
    assert f"retry 1 of at most {MOST_RETRIES}" in text


def test_the_last_failure_says_how_often_it_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", lambda text, **_: said.append(text))
    assert asyncio.run(azure.on_error_of_azure(failed(*[BUSY] * (MOST_RETRIES + 1)))) is False
    (text,) = said
    assert f"still busy after {MOST_RETRIES} retries" in text


def test_of_what_is_not_known_nothing_is_said_but_azures_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", lambda text, **_: said.append(text))
    assert asyncio.run(azure.on_error_of_azure(failed("something else", inputs={}))) is False
    assert said == []


def test_all_resources_of_a_run_share_one_hook(deploy: Any) -> None:
    names: list[str] = []

    def program() -> Any:
        for _ in range(2):
            (hook,) = azure_operation().on_error or []
            names.append(hook.name)
        assert azure_operation().on_error == azure_operation().on_error
        return pulumi.Output.from_input("done")

    deploy(program)
    assert names == ["aks-infiniband-azure-operation"] * 2


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ('Code="InsufficientSubnetSize" Message="Pre-allocated IPs 255 exceeds IPs available 251"', "free addresses"),
        ('Code="SubnetIsFull" Message="Subnet nodes is full."', "free addresses"),
        ('Code="MissingSubscriptionRegistration" Message="The subscription is not registered"', "resource provider"),
        (
            'Code="AuthorizationFailed" Message="… perform action \'Microsoft.ContainerService/x/write\'"',
            "lacks the right",
        ),
        ('Code="VMExtensionProvisioningError" Message="vmssCSE … exit status=85"', "GPU driver"),
        ('Code="OperationNotAllowed" Message="Resize is not supported for this size."', "another size"),
        ('Code="SetVNetOwnershipFailed" Message="Virtual network v is in Updating state."', "two operations met"),
    ],
)
def test_a_code_of_azures_has_its_cause_and_the_next_step(message: str, cause: str) -> None:
    (finding,) = azure_findings(message, {})
    assert cause in str(finding.cause)
    assert finding.command
