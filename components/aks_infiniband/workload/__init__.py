"""What a pod needs to use InfiniBand: its resources, environment and topology, and the sample Job.

Documents for people's workloads are made here. How a pool is measured lives in `validation`.
"""
