"""Pods in general: the cluster as the machines see it, a pod's status, and what a pod does to its machine.

How containers are executed is not here (`kubelet`), nor what a node shows of its machine (`nodes`).
"""
