"""The all-reduce over all GPUs of a pool: its ranks, what NCCL says of itself, and the judgement."""
