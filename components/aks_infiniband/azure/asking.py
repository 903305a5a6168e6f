"""Calls to azure-native while resources are being made."""

from collections.abc import Mapping
from typing import Any

import pulumi
from pulumi_azure_native import _utilities


async def ask(function: str, parent: pulumi.Resource, **arguments: Any) -> Mapping[str, Any]:
    """The answer of one of azure-native's functions, in the words of Azure's API.

    The functions that azure-native generates have two forms. One returns an Output, whose failure ends the program even
    if it is caught. The other pumps the event loop until the answer is there: if a hundred pools call it, each pumps
    inside the one before, until Python's stack is full. This function waits as every coroutine does.

    A resource hook must never await it. The call needs one of Pulumi's waiting threads (`--parallel` times four), and
    the resources whose hooks run may hold all of them.

    function: such as containerservice:getAgentPool. parent: the calling resource, and whose provider is used.
    arguments: named as in Azure's API.

    Raises Exception with the provider's words if Azure does not answer.
    """
    options = pulumi.InvokeOptions.merge(_utilities.get_invoke_opts_defaults(), pulumi.InvokeOptions(parent=parent))
    answer: Mapping[str, Any] | None = await pulumi.runtime.invoke_async(
        f"azure-native:{function}", arguments, opts=options
    )
    return answer or {}
