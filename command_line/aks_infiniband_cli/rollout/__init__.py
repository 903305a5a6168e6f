"""`aks-infiniband rollout`: another NIC driver on one node first, measured, and then on the rest, or not."""
