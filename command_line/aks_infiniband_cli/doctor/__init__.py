"""The command doctor: looks at a live cluster, read-only, whatever tool built it, and explains it by symptom.

The symptoms are data (`symptoms/`); a look is a pure function from a snapshot of the cluster to findings. Explanations
that a failed `up` needs too stand in `aks_infiniband.diagnosis`, and are used here.
"""
