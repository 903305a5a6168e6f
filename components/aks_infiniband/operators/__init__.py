"""NVIDIA's two operators: their Helm releases, the policies that tell them what to do, and the IPoIB networks.

Custom resources are built here as plain documents and wired by components. What prepares a host without an operator
lives in `hosts`.
"""
