"""Everything under `aks-infiniband:*` in a stack file, as written: what is left out is None or the default."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from aks_infiniband.facts import rules
from aks_infiniband.facts.releases import DEFAULT_RELEASE, ReleaseName
from aks_infiniband.facts.rules import Zone
from aks_infiniband.handwritten.section import Section
from aks_infiniband.resources.options import Waits
from aks_infiniband.stack.settings.cluster import ClusterSettings, ExistingClusterSettings
from aks_infiniband.stack.settings.operators import (
    AmdGpuOperatorSettings,
    CertManagerSettings,
    DraDriverSettings,
    GpuOperatorSettings,
    LightCheckSettings,
    NetworkOperatorSettings,
    ObservabilitySettings,
    RegistrySettings,
    SchedulerTopologySettings,
    WorkloadNamespaces,
)
from aks_infiniband.stack.settings.pools import DescribedSize, PoolSettings
from aks_infiniband.validation.options import ValidationOptions


def _as_text(value: Any) -> Any:
    """Pulumi hands a program the text 26.7 like the number."""
    return str(value) if isinstance(value, float) else value


class Settings(Section):
    """Everything that a stack file says: a cluster to be made, or an existing one, and its pools."""

    location: Annotated[str, Field(min_length=1), AfterValidator(rules.region_name)] | None = None
    """Azure region: the stack's `azure-native:location`. Needed for a cluster that is made."""
    cluster: ClusterSettings | None = None
    """The AKS cluster that is made. Either this or existingCluster."""
    existing_cluster: ExistingClusterSettings | None = None
    """A cluster that is there already."""
    pools: Annotated[tuple[PoolSettings, ...], Field(min_length=1)]
    """The pools of machines."""
    sizes: dict[Annotated[str, rules.vm_size], DescribedSize] = Field(default_factory=dict)
    """Machine sizes that the catalogue does not know, by their Azure name."""
    regions: dict[Annotated[str, rules.region], tuple[Zone, ...]] = Field(default_factory=dict)
    """Azure regions that the table of 2025-09-23 does not know, or whose zones are others, with their zones."""
    release: Annotated[ReleaseName, BeforeValidator(_as_text)] = DEFAULT_RELEASE.name
    """Release of both of NVIDIA's operators: their charts, all images, both drivers. 26.4: Network Operator 26.4.1 and
    GPU Operator 26.3.3. 26.7: 26.7.0 of both, which needs Kubernetes 1.32 and whose GPU driver does not support V100.
    """
    network_operator: NetworkOperatorSettings = NetworkOperatorSettings()
    gpu_operator: GpuOperatorSettings = GpuOperatorSettings()
    dra_driver: DraDriverSettings = DraDriverSettings()
    amd_gpu_operator: AmdGpuOperatorSettings = AmdGpuOperatorSettings()
    cert_manager: CertManagerSettings = CertManagerSettings()
    registry: RegistrySettings = RegistrySettings()
    workload: WorkloadNamespaces = WorkloadNamespaces()
    readiness: Waits = Waits()
    validation: ValidationOptions = ValidationOptions()
    preflight: bool = Field(default=False, strict=True)
    """True: `pulumi up` first runs the checks of `aks-infiniband preflight`, and changes nothing if a check fails."""
    observability: ObservabilitySettings | None = None
    """Metrics and dashboards of InfiniBand and GPUs in Prometheus and Grafana. Default: nothing."""
    light_check: LightCheckSettings | None = None
    """Left out, nothing is checked on a schedule."""
    scheduler_topology: SchedulerTopologySettings | None = None
    """Left out, schedulers of jobs get no information about the pools."""
