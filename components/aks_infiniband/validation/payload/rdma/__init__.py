"""RDMA between the pool's HCAs: the tools, the rounds in which pairs are measured, and who is at fault."""
