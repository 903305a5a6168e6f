"""The facts of one node, and those that all nodes have in common: read, and judged."""
