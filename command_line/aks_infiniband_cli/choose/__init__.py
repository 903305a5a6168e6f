"""The command init: which way to InfiniBand fits a workload, why, at what price, and the stack file that follows.

The decision is a pure function over plain data; flags, questions and files are around it.
"""
