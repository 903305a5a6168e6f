"""Our own DaemonSets that change a node: limits, kernel modules and nvidia-peermem.

Only what no operator does belongs here.
"""
