"""From a stack file to resources: settings, what follows from them, and the composition of all components.

This room knows every other one, and no other room imports it.
"""
