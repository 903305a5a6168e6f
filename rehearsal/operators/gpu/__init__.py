"""The stand-in GPU Operator."""
