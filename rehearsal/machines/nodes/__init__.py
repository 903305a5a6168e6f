"""A node's view of its machine: labels of feature discovery, extended resources, conditions.

Nothing here starts or ends pods.
"""
