"""The stand-in Network Operator."""
