"""NVIDIA's two operators: their Helm releases, the policies that configure them, and the IPoIB networks.

Custom resources are built here as plain documents and wired by components. Preparation of a host without an operator is
in `hosts`.
"""
