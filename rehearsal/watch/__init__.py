"""The cluster as simulators see it: cached objects kept by watches, and requests made until they are answered.

A simulator's reaction to its view is not here.
"""
