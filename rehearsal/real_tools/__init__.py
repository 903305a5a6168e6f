"""A small virtual machine in which real RDMA tools run: no hardware, no rights, no KVM.

Its HCAs are Soft-RoCE devices (rdma_rxe) of a real kernel, its pods are network namespaces. What is in it comes from
Debian's packages, pinned in packages.txt.
"""
