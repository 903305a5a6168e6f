"""A property of a pool needs its declaration and nothing else: whatever is made of pools has it."""

from typing import Annotated, TypedDict

from aks_infiniband.azure.machines import Machines, OrdinaryPool, Sent, sent
from aks_infiniband.facts.pool import Pool, PoolProperties
from aks_infiniband.handwritten.section import follows
from aks_infiniband.provider import machines
from aks_infiniband.provider.inputs import PoolDescription, describes
from aks_infiniband.stack.settings.pools import PoolSettings


class MoreMachines(Machines):
    """The machines' properties, and one more."""

    ultra_disks: Annotated[bool | None, Sent("enable_ultra_ssd")] = None
    """True if ultra disks can be attached. Default: false."""


class MoreSettings(MoreMachines, PoolSettings):
    """A pool of a stack file with it."""


def test_a_property_that_is_declared_is_asked_of_azure_and_is_a_key_and_an_input() -> None:
    @describes(MoreMachines)
    class MoreDescription(TypedDict):
        """The same property for other languages."""

    written = {"name": "a", "vmSize": "Standard_D8s_v5", "count": 2, "ultraDisks": True}
    read = MoreSettings.model_validate(written, by_alias=True, by_name=False)
    assert sent(read)["enable_ultra_ssd"] is True
    assert MoreSettings.model_json_schema()["properties"]["ultraDisks"]["description"].startswith("True if ultra")
    assert MoreDescription.__annotations__.keys() - machines.MachinesDescription.__annotations__ == {"ultra_disks"}
    assert "ultra_disks" in MoreDescription.__optional_keys__


class MoreProperties(PoolProperties):
    """A pool's properties, and one more."""

    cpu_manager: str = follows(lambda pool: f"of {pool.name}")
    """The owner of the processors' pins. Default: the pool itself."""


class MorePool(MoreProperties, Pool):
    """A pool with it."""


def test_every_property_of_a_pool_is_a_key_an_argument_and_an_input() -> None:
    names = PoolProperties.model_fields.keys()
    assert names <= PoolSettings.model_fields.keys()
    assert names <= Pool.model_fields.keys()
    assert names <= PoolDescription.__annotations__.keys()
    assert Machines.model_fields.keys() <= OrdinaryPool.model_fields.keys() <= PoolSettings.model_fields.keys()


def test_a_property_that_nobody_gives_follows_wherever_a_pool_is_made() -> None:
    assert MorePool.with_holes({"name": "a"}).cpu_manager == "of a"
    assert MorePool.with_holes({"name": "a", "cpu_manager": "kubelet"}).cpu_manager == "kubelet"
