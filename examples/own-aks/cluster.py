"""The team's own cluster, in the network that AKS makes for it: nothing in here knows of InfiniBand."""

import base64

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerservice, resources

location = pulumi.Config("azure-native").require("location")
kubernetes_version = pulumi.Config().require("kubernetesVersion")

group = resources.ResourceGroup("hpc", location=location)
cluster = containerservice.ManagedCluster(
    "hpc",
    resource_group_name=group.name,
    location=location,
    kubernetes_version=kubernetes_version,
    sku={"name": "Base", "tier": "Premium"},
    support_plan="AKSLongTermSupport",
    dns_prefix="hpc",
    identity={"type": "SystemAssigned"},
    agent_pool_profiles=[
        {
            "name": "system",
            "mode": "System",
            "type": "VirtualMachineScaleSets",
            "vm_size": "Standard_D8s_v5",
            "count": 2,
        }
    ],
    network_profile={"network_plugin": "azure", "network_plugin_mode": "overlay"},
    # Azure shows every pool among these; the InfiniBand pool is a separate resource.
    opts=pulumi.ResourceOptions(ignore_changes=["agentPoolProfiles"]),
)

credentials = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
encoded = credentials.kubeconfigs[0].value
kubeconfig = pulumi.Output.secret(encoded.apply(lambda text: base64.b64decode(text).decode()))
provider = kubernetes.Provider(
    "hpc",
    kubeconfig=kubeconfig,
    # The identity of the cluster: a changed kubeconfig alone replaces nothing.
    cluster_identifier=cluster.id,
    opts=pulumi.ResourceOptions(deleted_with=cluster),
)
