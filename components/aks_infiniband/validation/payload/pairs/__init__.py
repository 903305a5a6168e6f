"""Nodes two by two, in rounds: who is measured with whom, and which node is slower than its own pool."""
