"""A cluster in a new network with one agent pool; the values that the tests change come from the stack file."""

import base64
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_azure_native import authorization, containerservice, managedidentity, network, resources

NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"

config = pulumi.Config()
login = config.get("login")
entra: dict[str, Any] = {}
if login:
    entra = {"aad_profile": {"managed": True, "enable_azure_rbac": True}, "disable_local_accounts": True}
most = config.get_int("maxCount")
autoscaled: dict[str, Any] = {"enable_auto_scaling": True, "min_count": 1, "max_count": most} if most else {}
client = authorization.get_client_config()
group = resources.ResourceGroup("rg")
vnet = network.VirtualNetwork(
    "net", resource_group_name=group.name, address_space={"address_prefixes": ["10.10.0.0/16"]}
)
subnet = network.Subnet(
    "nodes", resource_group_name=group.name, virtual_network_name=vnet.name, address_prefix="10.10.0.0/20"
)
identity = managedidentity.UserAssignedIdentity("aks", resource_group_name=group.name)
role = authorization.RoleAssignment(
    "join",
    principal_id=identity.principal_id,
    principal_type="ServicePrincipal",
    scope=subnet.id,
    role_definition_id=(
        f"/subscriptions/{client.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/"
        f"{NETWORK_CONTRIBUTOR}"
    ),
)
resources.DeploymentAtSubscriptionScope(
    "infiniband",
    properties={
        "mode": "Incremental",
        "template": {
            "$schema": "https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#",
            "contentVersion": "1.0.0.0",
            "resources": [
                {
                    "type": "Microsoft.Features/featureProviders/subscriptionFeatureRegistrations",
                    "apiVersion": "2021-07-01",
                    "name": "Microsoft.ContainerService/AKSInfinibandSupport",
                    "properties": {},
                }
            ],
        },
    },
)
cluster = containerservice.ManagedCluster(
    "aks",
    resource_group_name=group.name,
    dns_prefix="aks",
    kubernetes_version="1.35",
    identity={"type": "UserAssigned", "user_assigned_identities": [identity.id]},
    agent_pool_profiles=[
        {
            "name": "system",
            "mode": "System",
            "vm_size": "Standard_D8s_v5",
            "count": config.get_int("systemCount") or 1,
            "vnet_subnet_id": subnet.id,
        }
    ],
    network_profile={
        "network_plugin": "azure",
        "network_plugin_mode": "overlay",
        "service_cidr": "10.96.0.0/16",
        "dns_service_ip": "10.96.0.10",
    },
    **entra,
    opts=pulumi.ResourceOptions(depends_on=[role]),
)
pool = containerservice.AgentPool(
    "ndh100",
    resource_group_name=group.name,
    resource_name_=cluster.name,
    vm_size=config.get("vmSize") or "Standard_ND96isr_H100_v5",
    count=config.get_int("count") or 2,
    os_disk_size_gb=config.get_int("osDiskSizeGb"),
    gpu_profile={"driver": config.get("driver") or "None"},
    vnet_subnet_id=subnet.id,
    type="VirtualMachineScaleSets",
    node_labels={"team": config.get("team") or "a"},
    **autoscaled,
    opts=pulumi.ResourceOptions(ignore_changes=["count"] if most else []),
)
credentials = containerservice.list_managed_cluster_user_credentials_output(
    resource_group_name=group.name, resource_name=cluster.name
)
kubeconfig = credentials.kubeconfigs[0].value.apply(lambda text: base64.b64decode(text).decode())
if login:
    by_kubelogin = kubeconfig.apply(lambda text: text.replace("devicecode", login))
    provider = kubernetes.Provider("cluster", kubeconfig=by_kubelogin, enable_server_side_apply=True)
    metadata: Any = {"name": "made-by-kubelogin", "labels": {"team": config.get("team") or "a"}}
    kubernetes.core.v1.Namespace("made", metadata=metadata, opts=pulumi.ResourceOptions(provider=provider))
pulumi.export("kubeconfig", pulumi.Output.secret(kubeconfig))
pulumi.export("clusterName", cluster.name)
