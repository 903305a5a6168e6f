"""The stand-in GPU Operator: ClusterPolicy to DaemonSets and node labels. What both operators share is not here."""
