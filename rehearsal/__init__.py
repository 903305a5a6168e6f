"""A data centre in a box: the same program on a real engine and API server, with simulated Azure and machines."""
