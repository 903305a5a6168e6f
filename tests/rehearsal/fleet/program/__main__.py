"""A managed cluster and its resource group in each region."""

import pulumi
from pulumi_azure_native import containerservice, resources

config = pulumi.Config()
names = {}
for region in config.require_object("regions"):
    group = resources.ResourceGroup(region, location=region)
    cluster = containerservice.ManagedCluster(
        region,
        resource_name_=f"fleet-{region}",
        resource_group_name=group.name,
        location=region,
        kubernetes_version="1.35",
        sku={"name": "Base", "tier": "Premium"},
        support_plan="AKSLongTermSupport",
        dns_prefix=region,
        identity={"type": "SystemAssigned"},
        agent_pool_profiles=[
            {
                "name": "system",
                "mode": "System",
                "type": "VirtualMachineScaleSets",
                "vm_size": "Standard_D8s_v5",
                "count": config.require_int("nodes"),
            }
        ],
        network_profile={"network_plugin": "azure", "network_plugin_mode": "overlay"},
    )
    names[region] = cluster.name
pulumi.export("clusters", names)
