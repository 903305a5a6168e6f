"""An AKS cluster, a registry for its images and a Helm release: nothing in here is of aks_infiniband."""

import base64

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import containerregistry, containerservice, resources

kubernetes_version = pulumi.Config().require("kubernetesVersion")

group = resources.ResourceGroup("web")
registry = containerregistry.Registry("web", resource_group_name=group.name, sku={"name": "Basic"})
cluster = containerservice.ManagedCluster(
    "web",
    resource_group_name=group.name,
    kubernetes_version=kubernetes_version,
    sku={"name": "Base", "tier": "Premium"},
    support_plan="AKSLongTermSupport",
    dns_prefix="web",
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
)
credentials = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
kubeconfig = pulumi.Output.secret(credentials.kubeconfigs[0].value.apply(lambda text: base64.b64decode(text).decode()))
provider = kubernetes.Provider("web", kubeconfig=kubeconfig, opts=pulumi.ResourceOptions(deleted_with=cluster))
kubernetes.helm.v3.Release(
    "shop",
    chart="./chart",
    name="shop",
    namespace="shop",
    create_namespace=True,
    values={"image": registry.login_server.apply(lambda server: f"{server}/shop:1")},
    opts=pulumi.ResourceOptions(provider=provider, deleted_with=cluster),
)
pulumi.export("clusterName", cluster.name)
pulumi.export("registry", registry.login_server)
