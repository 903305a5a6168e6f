"""Measures pools that no stack has validated: from the nodes' labels to a validation like a stack's, in a namespace
that is made for one run and is gone after it.

The library has the measurement and its documents; `validate.run` has the course of a run.
"""
