"""The count of a pool that the cluster autoscaler moves.

Azure wants a count from every pool, and while the autoscaler is on refuses any but the current one ("Cannot manually
scale", AKS issue 1248; pulumi-azure issue 780). So ignore_changes would not do: it goes on sending the first count, and
every other change of a pool that has been scaled would be refused. The program follows the autoscaler instead.
"""

import re
from typing import Final

import pulumi
from pulumi_azure_native import containerservice

_NOT_THERE: Final = re.compile(r"Status=404|RESPONSE 404|NotFound")


def current_count(
    resource_group_name: str, cluster_name: str, pool_name: str, *, begin: int, parent: pulumi.Resource
) -> int:
    """The pool's count as it is in Azure.

    begin: the answer where there is no such pool yet.
    parent: the resource that asks, and whose provider is used.

    Raises the provider's error where Azure does not tell.
    """
    try:
        # Not the form that gives an Output: its failure ends the program, whoever catches it.
        found = containerservice.get_agent_pool(
            resource_group_name=resource_group_name,
            resource_name=cluster_name,
            agent_pool_name=pool_name,
            opts=pulumi.InvokeOptions(parent=parent),
        )
    except Exception as error:
        if not _NOT_THERE.search(str(error)):
            raise
        return begin
    return int(found.count or begin)
