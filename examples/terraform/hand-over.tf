# The part of a Terraform configuration that hands pools over. Names of the module's inputs and outputs: 0.8.1.

locals {
  infiniband = {
    ndh100 = {
      name        = "ndh100"
      vm_size     = "Standard_ND96isr_H100_v5"
      count_of    = 2
      node_taints = ["sku=gpu:NoSchedule"]
      gpu_profile = { driver = "None" } # the GPU Operator installs it
    }
  }
}

module "aks" {
  source  = "Azure/avm-res-containerservice-managedcluster/azurerm"
  version = "0.8.1"

  name               = "lab"
  location           = azurerm_resource_group.this.location
  parent_id          = azurerm_resource_group.this.id
  default_agent_pool = { vm_size = "Standard_D8s_v5", count_of = 3 }
  managed_identities = { system_assigned = true }
  agent_pools        = local.infiniband
}

output "cluster" {
  value = { name = module.aks.name, resource_id = module.aks.resource_id }
}

output "infiniband_pools" {
  value = { for key, made in module.aks.agentpool_resource_ids : key => merge(local.infiniband[key], made) }
}

output "kube_config" {
  value     = module.aks.kube_config
  sensitive = true
}
