"""The components as a Pulumi provider."""

from aks_infiniband.provider.host import serve

serve()
