"""The stand-in GPU Operator: ClusterPolicy to DaemonSets and node labels. The shared parts of both operators are not
here.
"""
