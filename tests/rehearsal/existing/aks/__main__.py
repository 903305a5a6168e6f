"""An AKS cluster with node pools, as `az` makes it by Azure's guide: in AKS's own network, with AKS's defaults."""

import json

import pulumi
from pulumi_azure_native import containerservice, resources

GUIDE = "guide"
group = resources.ResourceGroup(GUIDE, resource_group_name=GUIDE, location="southcentralus")
cluster = containerservice.ManagedCluster(
    GUIDE,
    resource_name_=GUIDE,
    resource_group_name=group.name,
    location="southcentralus",
    kubernetes_version="1.35",
    dns_prefix=GUIDE,
    identity={"type": "SystemAssigned"},
    agent_pool_profiles=[
        {
            "name": "nodepool1",
            "mode": "System",
            "count": 2,
            "vm_size": "Standard_D8s_v5",
            "os_type": "Linux",
            "type": "VirtualMachineScaleSets",
        }
    ],
    network_profile={"network_plugin": "azure", "network_plugin_mode": "overlay"},
)
for name, given in json.loads(pulumi.Config().require("pools")).items():
    containerservice.AgentPool(
        name,
        agent_pool_name=name,
        resource_group_name=group.name,
        resource_name_=cluster.name,
        mode="User",
        os_type="Linux",
        type="VirtualMachineScaleSets",
        **given,
    )
