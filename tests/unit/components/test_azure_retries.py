"""Failed operations in Azure: what is tried again, how long, and what is said of the rest."""

import asyncio
from typing import Any

import pulumi
import pytest
from aks_infiniband.diagnosis import azure, azure_operation
from aks_infiniband.diagnosis.azure import MOST_RETRIES, pause_before_retry

BUSY = (
    'Status=409 Code="OperationNotAllowed" Message="Operation is not allowed: Another agentpool operation (nodepool1 - '
    'Creating) is in progress, please wait for it to finish before starting a new operation."'
)


def failed(*errors: str, operation: Any = "create", inputs: Any = None) -> Any:
    given = {"agentPoolName": "ndh100", "vmSize": "Standard_ND96isr_H100_v5"} if inputs is None else inputs
    sides = {"old_inputs": given} if operation == "delete" else {"new_inputs": given}
    return pulumi.ErrorHookArgs(
        urn="urn", id="id", name="rdma-ndh100", type="t", errors=list(errors), failed_operation=operation, **sides
    )


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


def test_every_retry_is_told_with_what_azure_said(monkeypatch: pytest.MonkeyPatch, warnings: list[str]) -> None:
    monkeypatch.setattr(azure, "_FIRST_PAUSE_SECONDS", 0.001)
    assert asyncio.run(azure.on_error_of_azure(failed(BUSY, operation="delete"))) is True
    (text,) = warnings
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
