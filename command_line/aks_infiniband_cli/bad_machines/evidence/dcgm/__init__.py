"""DCGM's diagnostics of a machine's GPUs, if the GPU Operator runs DCGM: a second opinion in addition to the
validation's.

Nothing here fails the evidence: if DCGM does not answer, the reason is reported.
"""
