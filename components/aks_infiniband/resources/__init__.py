"""What all components share when they make a resource: options of children, labels, and where images come from.

A helper lives here when at least two rooms need it. What belongs to one component stays in that component's room.
"""
