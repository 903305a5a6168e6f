"""The inputs of several components, for every language. A module that describes inputs takes `describes` from here, so
that the parts of them are described before.
"""

from typing import Any, NotRequired, TypedDict

from aks_infiniband.azure.machines import AskedPool
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.charts import ChartSource
from aks_infiniband.operators.release import DriverUpgrade, OperatorArgs
from aks_infiniband.provider.described import describes
from aks_infiniband.resources.options import Waits
from aks_infiniband.resources.registry import Registry
from aks_infiniband.stack.settings.operators import ChartSettings

__all__ = [
    "ChartDescription",
    "OperatorInputs",
    "PoolDescription",
    "RegistryDescription",
    "ThresholdDescription",
    "UpgradeDescription",
    "WaitsDescription",
    "describes",
]


@describes(AskedPool, Pool, without=("size", "node_count"), part=Pool)
class PoolDescription(TypedDict):
    """One pool of InfiniBand machines. Describe it once, and give it to every component that serves the pool."""


@describes(ChartSettings, part=ChartSource)
class ChartDescription(TypedDict):
    """A Helm chart from another place. Values that are left out stay as its makers have them."""


@describes(Registry)
class RegistryDescription(TypedDict):
    """A registry that mirrors every image under the path that it has at its source."""


@describes(Waits)
class WaitsDescription(TypedDict):
    """The limits of waits, and the pauses between looks."""


@describes(DriverUpgrade)
class UpgradeDescription(TypedDict):
    """The way in which a changed driver reaches the nodes: one at a time, each drained first."""


@describes(GivenThreshold)
class ThresholdDescription(TypedDict):
    """Bounds of one measured figure, in its unit."""


@describes(OperatorArgs)
class OperatorInputs(TypedDict):
    """The inputs of all operators."""

    chart: NotRequired[ChartDescription]
    """The chart. Default: that of its makers."""
    values: NotRequired[dict[str, Any]]
    """Further Helm values. A value that contradicts what follows from the pools is refused."""
    system_node_selector: NotRequired[dict[str, str]]
    """Labels of the nodes that carry the operator. Default: AKS's label of system pools. Empty: any node of no pool."""
    registry: NotRequired[RegistryDescription]
    """The source of images. Default: the places at which their makers publish them."""
