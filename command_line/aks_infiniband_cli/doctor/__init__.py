"""The command doctor: looks at a live cluster, read-only, whoever built it, and explains it by symptom.

The symptoms are data (`symptoms/`); a look is a pure function from a snapshot of the cluster to findings. What explains
a failed `up` too stands in `aks_infiniband.diagnosis`, and is used here.
"""
