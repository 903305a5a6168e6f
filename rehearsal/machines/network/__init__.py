"""The second networks of pods: which are attached, and which addresses they get.

Nothing here executes containers.
"""
