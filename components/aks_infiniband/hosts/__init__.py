"""What is done to a node by DaemonSets of our own: limits, kernel modules and nvidia-peermem.

Only what no operator does belongs here.
"""
