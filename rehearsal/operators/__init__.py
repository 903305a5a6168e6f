"""Stand-ins for NVIDIA's operators: they read the real custom resources and create what the real ones create.

Written from what Network Operator 26.4.1 and GPU Operator 26.3.3 were seen to do. Each reconcile is a function from a
`Snapshot` of the cluster to a `Plan`; `loop` keeps the snapshot and carries the plan out. The effects of these objects'
pods on their node are not here (`rehearsal.machines`).
"""
