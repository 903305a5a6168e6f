"""What is known of the world: machine sizes, published figures, versions, and what a pool of machines is.

Here stand facts with their sources and plain data made of them. No Pulumi resource is made here, and nothing of a stack
file is read.
"""
