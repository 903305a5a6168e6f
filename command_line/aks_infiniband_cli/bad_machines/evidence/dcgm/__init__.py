"""DCGM's diagnostics of a machine's GPUs, where the GPU Operator runs DCGM: a second opinion beside the validation's.

Nothing here fails the evidence: what DCGM does not say is told as the reason.
"""
