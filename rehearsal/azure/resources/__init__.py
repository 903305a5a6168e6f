"""The needs, refusals, outputs and actions of each resource type, and the table of all types.

Common parts of all types are not here (`rehearsal.azure.kinds`, `rehearsal.azure.operations`).
"""

from typing import Final

from rehearsal.azure.kinds import Kind
from rehearsal.azure.resources.agent_pools import AGENT_POOL
from rehearsal.azure.resources.alerts import PROMETHEUS_RULE_GROUP
from rehearsal.azure.resources.clusters import MANAGED_CLUSTER
from rehearsal.azure.resources.deployments import DEPLOYMENT
from rehearsal.azure.resources.features import FEATURE_REGISTRATION
from rehearsal.azure.resources.groups import RESOURCE_GROUP
from rehearsal.azure.resources.identities import ROLE_ASSIGNMENT, USER_ASSIGNED_IDENTITY
from rehearsal.azure.resources.networks import SUBNET, VIRTUAL_NETWORK

KINDS: Final[dict[str, Kind]] = {
    kind.pulumi_type: kind
    for kind in (
        RESOURCE_GROUP,
        VIRTUAL_NETWORK,
        SUBNET,
        USER_ASSIGNED_IDENTITY,
        ROLE_ASSIGNMENT,
        FEATURE_REGISTRATION,
        DEPLOYMENT,
        MANAGED_CLUSTER,
        AGENT_POOL,
        PROMETHEUS_RULE_GROUP,
    )
}
"""Every simulated type by its token."""
