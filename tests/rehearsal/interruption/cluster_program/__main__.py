"""A cluster with one agent pool, and in it a chart and an object; a setting changes most of them."""

import base64

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice, resources

config = pulumi.Config()
team = config.get("team") or "a"

group = resources.ResourceGroup("group")
cluster = containerservice.ManagedCluster(
    "aks",
    resource_group_name=group.name,
    dns_prefix="aks",
    kubernetes_version="1.35",
    identity={"type": "SystemAssigned"},
    agent_pool_profiles=[{"name": "system", "mode": "System", "vm_size": "Standard_D8s_v5", "count": 1}],
)
pool = containerservice.AgentPool(
    "ndh100",
    resource_group_name=group.name,
    resource_name_=cluster.name,
    vm_size="Standard_ND96isr_H100_v5",
    count=1 if team == "a" else 2,
    gpu_profile={"driver": "None"},
    type="VirtualMachineScaleSets",
    node_labels={"team": team},
)
credentials = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
kubeconfig = credentials.kubeconfigs[0].value.apply(lambda text: base64.b64decode(text).decode())
provider = kubernetes.Provider("cluster", kubeconfig=kubeconfig, enable_server_side_apply=True)
namespace = kubernetes.core.v1.Namespace(
    "space", metadata={"name": "space"}, opts=pulumi.ResourceOptions(provider=provider)
)
inside = pulumi.ResourceOptions(provider=provider, depends_on=[namespace, pool])
kubernetes.core.v1.ConfigMap(
    "settings", metadata={"namespace": "space", "name": "settings"}, data={"team": team}, opts=inside
)
kubernetes.helm.v3.Release(
    "discovery",
    name="discovery",
    chart=config.require("chart"),
    namespace="space",
    values={"gc": {"replicaCount": 1 if team == "a" else 2}},
    opts=inside,
)
pulumi.export("cluster", cluster.name)
