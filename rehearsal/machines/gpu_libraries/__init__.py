"""The libraries that programs on GPUs link, CUDA's runtime and driver and NCCL: modules of functions with C's names.

A simulated machine has no GPU and computes nothing for one; what several GPUs say to each other is said for real.
"""
