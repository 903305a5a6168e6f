"""What is plugged into a machine and what its kernel shows of it, as plain data.

Nothing here talks to the cluster or knows of pods.
"""
