"""The command evidence: what a support case needs of a machine, kept before anybody restarts it.

It runs one pod on the node, takes it away again, and changes nothing. Nothing is sent to anybody.
"""
