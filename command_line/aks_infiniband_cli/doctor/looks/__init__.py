"""The looks: pure functions from a snapshot to findings, each with the id of its symptom."""
