"""The requests that the simulated Azure refuses or does not carry out, as a subscription file names them."""

from typing import Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

FaultCode = Literal[
    "TooManyRequests",
    "OperationNotAllowed",
    "EtagMismatch",
    "AnotherOperationInProgress",
    "LinkedAuthorizationFailed",
    "AuthorizationFailed",
    "SkuNotAvailable",
    "AksCapacityHeavyUsage",
    "ExpiredAuthenticationToken",
    "AllocationFailed",
    "ZonalAllocationFailed",
    "OverconstrainedAllocationRequest",
    "OverconstrainedZonalAllocationRequest",
    "QuotaExceeded",
    "ErrCode_InsufficientVCPUQuota",
    "VMExtensionProvisioningError",
    "Canceled",
    "ApiServerUnreachable",
    "Hang",
]
FaultType = Literal[
    "AgentPool",
    "DeploymentAtSubscriptionScope",
    "ManagedCluster",
    "PrometheusRuleGroup",
    "Provider",
    "ResourceGroup",
    "RoleAssignment",
    "Subnet",
    "SubscriptionFeatureRegistration",
    "UserAssignedIdentity",
    "VirtualMachine",
    "VirtualNetwork",
]
FaultOperation = Literal["create", "update", "delete", "deleteMachines", "restart", "redeploy"]
NO_ROOM: Final = (
    "AllocationFailed",
    "ZonalAllocationFailed",
    "OverconstrainedAllocationRequest",
    "OverconstrainedZonalAllocationRequest",
)
"""Codes of an accepted request whose machines Azure cannot place."""
_OF_MACHINES: Final = ("Hang", *NO_ROOM, "TooManyRequests", "AnotherOperationInProgress")


class Fault(BaseModel):
    """A request that Azure refuses, or accepts and does not carry out, although nothing is wrong with it.

    code: the error; type: the resource's type without its namespace; name: of resources, with * and ?; operations: the
    requests; first: how many it meets, 0 for all; side_by_side: only a request that comes while another one on a
    resource of the type and in the same cluster is under way, and that one lasts until then, a minute at most; late:
    AllocationFailed and its kin only when the other machines have joined, instead of after a minute. A machine of a
    pool is a VirtualMachine by its node's name, and is met by its restart or redeploy; Hang is accepted and never ends.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel)

    code: FaultCode
    type: FaultType = "AgentPool"
    name: str = "*"
    operations: tuple[FaultOperation, ...] = ("create", "update", "delete")
    first: int = Field(default=1, ge=0)
    side_by_side: bool = False
    late: bool = False

    @model_validator(mode="after")
    def _meets_something(self) -> Self:
        if self.late and self.code not in (*NO_ROOM, "VMExtensionProvisioningError"):
            raise ValueError(f"late is of codes that machines end with, and not of {self.code}")
        if self.code in ("ApiServerUnreachable", "AksCapacityHeavyUsage") and self.type != "ManagedCluster":
            raise ValueError(f"{self.code} is of type ManagedCluster, and not {self.type}")
        of_machines = set(self.operations) <= {"restart", "redeploy"} and self.code in _OF_MACHINES
        if self.type == "VirtualMachine" and not of_machines:
            known = ", ".join(_OF_MACHINES)
            raise ValueError(f"a VirtualMachine is met by operations restart and redeploy, with the codes {known}")
        if self.code == "Hang" and self.type != "VirtualMachine":
            raise ValueError(f"Hang is of type VirtualMachine, and not {self.type}")
        return self
