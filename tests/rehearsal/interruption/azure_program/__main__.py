"""A network in a resource group; both get the random names that azure-native gives."""

from pulumi_azure_native import network, resources

group = resources.ResourceGroup("group")
network.VirtualNetwork("net", resource_group_name=group.name, address_space={"address_prefixes": ["10.10.0.0/16"]})
