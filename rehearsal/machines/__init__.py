"""The simulated machines: what is plugged into a node, and what pods do to it, whoever created them."""
