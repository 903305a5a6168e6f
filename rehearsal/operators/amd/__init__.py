"""The stand-in of AMD's GPU Operator, and of the Kernel Module Management that its chart brings."""
