"""`aks-infiniband rollout`: another driver on one node first, measured, and then on the rest, or not."""
