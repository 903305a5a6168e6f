"""What a kubelet does: admits pods, gives them devices and volumes, runs their containers and serves their logs.

What a node shows of its machine is not here (`nodes`).
"""
