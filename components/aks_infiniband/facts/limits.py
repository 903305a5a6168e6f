"""Limits of Azure, and the default limit of a wait."""

from typing import Final

MOST_NODES: Final = 1000
"""Nodes that AKS takes in one pool (Azure, "Quotas, virtual machine size restrictions, and region availability")."""
LARGEST_POOL: Final = 100
"""Machines that one placement group, and so one InfiniBand fabric, takes (Azure, "Scale sets and placement groups")."""
TIMEOUT_SECONDS: Final = 2700
"""Limit of a wait. Registering the feature takes about 10 minutes, a pool 6, the driver of a slow node 19, one after
the other (field reports, B5); the rest is reserve."""
