"""Our own DaemonSets that change a node: limits, kernel modules, nvidia-peermem and images.

Only what no operator does belongs here.
"""
