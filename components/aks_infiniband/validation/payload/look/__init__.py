"""What one node has, and what all nodes have in common: read, and judged."""
