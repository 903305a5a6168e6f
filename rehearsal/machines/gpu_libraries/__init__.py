"""The libraries that programs on GPUs link, CUDA's runtime and driver and NCCL: modules of functions with C's names.

A simulated machine does not have a GPU and computes nothing for one; the exchange between several GPUs is real.
"""
