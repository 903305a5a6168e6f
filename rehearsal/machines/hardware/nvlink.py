"""NVLink between machines: the fabric of a rack with GB200 or GB300."""

import uuid
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class NvlinkFabric:
    """The NVLink fabric of a rack, as a machine's GPUs see it (NVML, "Fabric definitions")."""

    cluster_uuid: str
    clique_id: int = 0x7FFE
    """As in the log of two machines with GB200 (field recordings, mnnvl.yaml)."""
    state: str = "Completed"
    """Completed, or In Progress while the fabric has not taken the GPUs in."""

    @property
    def registered(self) -> bool:
        """True if the fabric has taken the GPUs in."""
        return self.state == "Completed"

    @property
    def clique(self) -> str:
        """Machines with the same one reach each other's GPUs."""
        return f"{self.cluster_uuid}.{self.clique_id}"


def nvlink_of(fabric: str, rack: int) -> NvlinkFabric:
    """The fabric that machines of one placement and rack share."""
    return NvlinkFabric(cluster_uuid=str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{fabric}.rack{rack}")))
