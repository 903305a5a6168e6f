"""The stand-in Network Operator: its policies to DaemonSets and node labels. The shared parts of both operators are not
here.
"""
