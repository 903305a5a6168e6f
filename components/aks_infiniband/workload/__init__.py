"""What a pod needs to use InfiniBand: its resources, environment and topology, the sample Job, and what schedulers of
jobs are told of a pool.

Documents for people's workloads are made here. How a pool is measured lives in `validation`.
"""
