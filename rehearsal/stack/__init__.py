"""The meaning of a stack file for a rehearsal: the copy that the engine reads, and the nodes of an existing cluster.

Reading files and making documents lives here; starting processes does not.
"""
