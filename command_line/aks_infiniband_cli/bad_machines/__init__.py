"""The treatment of a bad machine: evidence is kept of it, and another one takes its place.

The validation and the light check, not this room, find bad machines.
"""
