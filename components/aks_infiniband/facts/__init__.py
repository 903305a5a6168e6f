"""Facts about the world: machine sizes, published figures, versions, and the facts of a pool of machines.

Here stand facts with their sources and plain data made of them. No Pulumi resource is made here, and nothing of a stack
file is read.
"""
