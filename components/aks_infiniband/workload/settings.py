"""The component that hands workloads their settings, in every namespace of workloads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.namespaces import require_for_workloads
from aks_infiniband.resources.options import child_options
from aks_infiniband.workload.claims import claim_templates
from aks_infiniband.workload.compute_domains import compute_domains
from aks_infiniband.workload.pods import NAMESPACE, config_map_name, config_maps


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadSettingsArgs:
    """Arguments of WorkloadSettings."""

    pools: Sequence[Pool]
    """The pools on which workloads run."""
    namespaces: Sequence[Annotated[str, rules.namespace]] = (NAMESPACE,)
    """Namespaces that get the ConfigMaps; they have to exist. None of the system's or an operator's. Default:
    aks-infiniband."""
    topologies: Mapping[str, str] = field(default_factory=dict)
    """By pool name, the content of an NCCL topology file that replaces the file of the size."""

    def __post_init__(self) -> None:
        """Raises ValueError if a namespace is the system's, an operator's or our own, and for a topology of an unknown
        pool.
        """
        keep_rules(self)
        require_for_workloads(self.namespaces)
        names = [pool.name for pool in self.pools]
        for name in self.topologies:
            if name not in names:
                raise ValueError(f"topologies: {name} is not a pool; pools are {', '.join(names) or 'none'}")


class WorkloadSettings(pulumi.ComponentResource):
    """ConfigMaps with the environment of RDMA workloads, for `envFrom`, and with NCCL's topology, to be mounted; for
    pools in mode dra also the ResourceClaimTemplates to which their pods refer, and for pools with an NVLink domain its
    ComputeDomains, which need the DraDriver.
    """

    config_maps: Mapping[str, pulumi.Output[str]]
    """By pool, the name of the ConfigMap with its environment, known once it exists in every namespace."""

    def __init__(self, name: str, *, args: WorkloadSettingsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:WorkloadSettings", name, None, opts)
        self.config_maps = {
            pool.name: _config_maps_of(pool, name, args, child_options(self, opts)) for pool in args.pools
        }
        for namespace in dict.fromkeys(args.namespaces):
            where = "" if namespace == NAMESPACE else f"-{namespace}"
            claim_templates(f"{name}{where}", args.pools, namespace, child_options(self, opts))
            compute_domains(f"{name}{where}", args.pools, namespace, child_options(self, opts))
        self.register_outputs({"configMaps": self.config_maps})


def _config_maps_of(
    pool: Pool, component: str, args: WorkloadSettingsArgs, opts: pulumi.ResourceOptions
) -> pulumi.Output[str]:
    made = []
    for namespace in dict.fromkeys(args.namespaces):
        for name, data in config_maps(pool, topology=args.topologies.get(pool.name)).items():
            where = "" if namespace == NAMESPACE else f"-{namespace}"
            config_map = k8s.core.v1.ConfigMap(
                f"{component}{where}-{name.removeprefix('workload-')}",
                metadata={"name": name, "namespace": namespace, "labels": labels("workload-settings", "workload")},
                data=data,
                opts=opts,
            )
            made.append(config_map.id)
    return pulumi.Output.all(*made).apply(lambda _: config_map_name(pool.name))
