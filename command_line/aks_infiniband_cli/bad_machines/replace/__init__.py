"""`aks-infiniband replace`: a bad machine is taken out, mended or given up, and measured before one is let in.

What is known of a machine that is replaced stands in the cluster (`history`), so the command may be killed at any step.
What comes next is one pure function (`decision`); who carries it out knows nothing of the order.
"""
