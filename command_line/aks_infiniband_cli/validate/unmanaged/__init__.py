"""Measures pools that no stack has validated: from the nodes' labels to a validation like a stack's, in a namespace
that is made for one run and is gone after it.

What is measured and by which documents is the library's; how a run goes is `validate.run`'s.
"""
