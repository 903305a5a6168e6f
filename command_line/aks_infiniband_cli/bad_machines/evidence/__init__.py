"""The command evidence: the facts that a support case needs of a machine, kept before it is restarted.

The command runs one pod on the node, takes it away again, and changes nothing. The command sends nothing.
"""
