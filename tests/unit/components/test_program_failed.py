"""A test of a program that fails leaves nothing behind: a green run is silent."""

import asyncio
import gc
from typing import Any

import pulumi
import pytest

from declared.pulumi_mocks import Deploy
from tests.unit.components.azure_programs import node_pool


class NotToday(pulumi.RunError):
    """Why the program fails."""


async def fails() -> Any:
    raise NotToday


def waiting_for_what_fails() -> Any:
    """A pool whose outputs all wait for a resource that fails; the program uses one of them."""
    return node_pool(opts=pulumi.ResourceOptions(depends_on=[pulumi.Output.from_input(fails())])).ready


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    gc.collect()
    return [record.message for record in caplog.records if record.name == "asyncio"]


def test_a_program_that_fails_tells_its_failure_once(deploy: Deploy, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NotToday):
        deploy(waiting_for_what_fails)
    deploy(lambda: None)  # until the next program the SDK itself keeps the failure
    assert told(caplog) == []


def test_a_failure_that_a_program_loses_is_told(deploy: Deploy, caplog: pytest.LogCaptureFixture) -> None:
    def program() -> None:
        asyncio.get_event_loop().create_future().set_exception(NotToday())

    deploy(program)
    assert [line.partition("\n")[0] for line in told(caplog)] == ["Future exception was never retrieved"]
