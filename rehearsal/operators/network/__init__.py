"""The stand-in Network Operator: its policies to DaemonSets and node labels. What both operators share is not here."""
