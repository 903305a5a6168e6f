"""The cluster as simulators see it: cached objects kept by watches, and requests made until they are answered.

What a simulator does about what it sees is not here.
"""
