"""The devices of a machine and its kernel's view of them, as plain data.

Nothing here talks to the cluster or knows of pods.
"""
