"""Our own DaemonSets that change a node: limits, kernel modules, nvidia-peermem, container toolkit, images.

Only what no operator does belongs here.
"""
