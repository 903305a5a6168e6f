"""The command workload: what pods of a pool need, from the stack file alone."""
