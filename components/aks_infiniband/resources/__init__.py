"""The shared parts of components that make resources: options of children, labels, and the source of images.

A helper lives here when at least two rooms need it. The parts of one component stay in that component's room.
"""
