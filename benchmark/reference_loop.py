"""One rank of the reference: the plainest loop that times an all-reduce, sharing nothing with the payload.

Twenty all-reduces after five to warm up, a barrier before, CUDA events around; and a wall clock around the same twenty.
Reads RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT. Prints a line of JSON for each size on rank 0.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist

WARMUP = 5
ITERATIONS = 20


def main(sizes: list[int]) -> None:
    """Time each size; what is printed is the slowest rank's seconds, by events and by wall clock, and rank 0's."""
    rank, world, local = (int(os.environ[name]) for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"))
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    for size in sizes:
        data = torch.full((size // 4,), float(rank + 1), device="cuda")
        for _ in range(WARMUP):
            dist.all_reduce(data)
        torch.cuda.synchronize()
        dist.barrier(device_ids=[local])
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        started = time.perf_counter()
        begin.record()
        for _ in range(ITERATIONS):
            dist.all_reduce(data)
        end.record()
        torch.cuda.synchronize()
        wall = (time.perf_counter() - started) / ITERATIONS
        seconds = begin.elapsed_time(end) / 1e3 / ITERATIONS
        times = torch.tensor([seconds, wall], dtype=torch.float64, device="cuda")
        dist.all_reduce(times, op=dist.ReduceOp.MAX)
        if rank == 0:
            slowest, slowest_wall = times.tolist()
            bus = {
                name: size / value / 1e9 * 2 * (world - 1) / world
                for name, value in (("events", slowest), ("wall_clock", slowest_wall), ("rank_0", seconds))
            }
            print(json.dumps({"bytes": size, "bus_gb_per_s": bus}), flush=True)
        del data
    dist.destroy_process_group()


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]])
