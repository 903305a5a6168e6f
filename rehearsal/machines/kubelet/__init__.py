"""The work of a kubelet: it admits pods, gives them devices and volumes, runs their containers and serves their logs.

A node's view of its machine is not here (`nodes`).
"""
