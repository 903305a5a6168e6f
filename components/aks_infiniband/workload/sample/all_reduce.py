"""All-reduce over all GPUs of a Job with PyTorch and NCCL: is the sum right, and how fast does it come?

Started by torchrun, one process a GPU. With NCCL_DEBUG=INFO the log says what it went over (NET/IB, GDRDMA).
"""

import os
import sys
import time

import torch
from torch import distributed

SIZES_MIB = (1, 16, 256, 2048)
WARM_UPS, ROUNDS = 5, 20


def measure(mebibytes: int, rank: int, world: int) -> float:
    """Seconds of one all-reduce, the mean of several. Raises RuntimeError if the sum is wrong."""
    values = torch.full((mebibytes * 2**20 // 4,), float(rank + 1), device="cuda")
    distributed.all_reduce(values)
    wrong = int((values != world * (world + 1) / 2).sum())
    if wrong:
        raise RuntimeError(f"{wrong} of {values.numel()} sums are wrong at {mebibytes} MiB")
    values.zero_()
    for _ in range(WARM_UPS):
        distributed.all_reduce(values)
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(ROUNDS):
        distributed.all_reduce(values)
    torch.cuda.synchronize()
    return (time.perf_counter() - began) / ROUNDS


def main() -> int:
    """Print one line a size on the first process."""
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl")
    rank, world = distributed.get_rank(), distributed.get_world_size()
    if rank == 0:
        print(f"all-reduce over {world} GPUs, float32, sums checked")
    for mebibytes in SIZES_MIB:
        seconds = measure(mebibytes, rank, world)
        # Bus bandwidth: what one link moves, whatever the number of processes (nccl-tests, PERFORMANCE.md).
        bus = mebibytes * 2**20 / seconds * 2 * (world - 1) / world / 1e9
        if rank == 0:
            print(f"{mebibytes:>6} MiB  {seconds * 1e6:>10.0f} us  bus bandwidth {bus:>7.1f} GB/s", flush=True)
    distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
