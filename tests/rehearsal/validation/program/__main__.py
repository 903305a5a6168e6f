"""One pool of a cluster that is there already, with workload settings and validation."""

import json
import os

import pulumi
import pulumi_kubernetes as k8s
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation import Validation, ValidationArgs, ValidationOptions
from aks_infiniband.workload.settings import WorkloadSettings, WorkloadSettingsArgs

given = json.loads(os.environ["VALIDATION_REHEARSAL"])
name = given["pool"]
pool = Pool(
    name=name,
    size=SIZES[given.get("size", "Standard_ND96isr_H100_v5")],
    node_count=given["nodes"],
    node_selector={"agentpool": name},
    mode="rdma-shared",
    nic_driver="doca-ofed",
    gpu_driver=given["gpu_driver"],
)
provider = k8s.Provider("cluster", kubeconfig=given["kubeconfig"], enable_config_map_mutable=True)
inside = pulumi.ResourceOptions(provider=provider)
namespace = k8s.core.v1.Namespace("namespace", metadata={"name": name}, opts=inside)
after = pulumi.ResourceOptions(provider=provider, depends_on=[namespace])
workload = WorkloadSettings("workload", args=WorkloadSettingsArgs(pools=[pool], namespaces=[name]), opts=after)
validation = Validation(
    name,
    args=ValidationArgs(
        pool=pool,
        options=ValidationOptions(mode=given["mode"], timeout_seconds=given["timeout"]),
        waits=Waits(poll_seconds=given["poll"], stable_seconds=0.5, timeout_seconds=given["timeout"]),
        namespace=name,
        kubeconfig=pulumi.Output.secret(given["kubeconfig"]),
    ),
    opts=pulumi.ResourceOptions(provider=provider, depends_on=[workload]),
)
pulumi.export("report", validation.report)
