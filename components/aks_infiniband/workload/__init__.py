"""The needs of a pod that uses InfiniBand: its resources, environment and topology, the sample Job, and the objects
that describe a pool to schedulers of jobs.

Documents for people's workloads are made here. The measurement of a pool is in `validation`.
"""
