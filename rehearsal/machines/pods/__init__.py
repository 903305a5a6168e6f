"""Pods in general: the cluster as the machines see it, a pod's status, and what a pod does to its machine.

The execution of containers is not here (`kubelet`), and neither is a node's view of its machine (`nodes`).
"""
