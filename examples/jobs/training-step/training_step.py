"""One step of training, timed on all nodes together and then on pairs of them, each node with several partners.

Started by torchrun, one process a GPU. The model is a part of a transformer of 0.8 billion parameters in bfloat16, or
float16 if a GPU lacks that; DistributedDataParallel adds the gradients up while they are made, as in a training.
Nothing is judged: the first process prints what pairs_of_nodes.py makes of the times.
"""

import os
import sys
import time

import torch
from pairs_of_nodes import Pair, rounds_of, table
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

WIDTH, LAYERS, SEQUENCES, TOKENS = 4096, 4, 4, 2048
WARM_UPS, STEPS = 5, 20


def time_steps(group: distributed.ProcessGroup | None) -> list[float]:
    """Milliseconds of each step of a group; None is all processes."""
    kind = torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
    layers = [
        nn.TransformerEncoderLayer(
            WIDTH, WIDTH // 128, 4 * WIDTH, dropout=0, activation="gelu", batch_first=True, norm_first=True,
            device="cuda", dtype=kind,
        )
        for _ in range(LAYERS)
    ]  # fmt: skip
    model = DistributedDataParallel(nn.Sequential(*layers), process_group=group, gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(SEQUENCES, TOKENS, WIDTH, device="cuda", dtype=kind)
    times = []
    for _ in range(WARM_UPS + STEPS):
        torch.cuda.synchronize()
        began = time.perf_counter()
        model(batch).float().pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - began) * 1000)
    return times[WARM_UPS:]


def pair_of(node: int, pairs: list[Pair]) -> Pair | None:
    """The pair that a node is in; None if it waits."""
    return next((pair for pair in pairs if node in pair), None)


def main() -> int:
    """Print the table on the first process."""
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl", device_id=torch.device("cuda", int(os.environ["LOCAL_RANK"])))
    gpus, rank = int(os.environ["LOCAL_WORLD_SIZE"]), distributed.get_rank()
    node, nodes = rank // gpus, distributed.get_world_size() // gpus
    whole, mine = time_steps(None), {}
    for pairs in rounds_of(nodes):
        # Every process takes part in making each group, whether it will be in it or not.
        groups = {
            pair: distributed.new_group([member * gpus + gpu for member in pair for gpu in range(gpus)])
            for pair in pairs
        }
        pair = pair_of(node, pairs)
        if pair is not None:
            mine[pair] = time_steps(groups[pair])
        torch.cuda.empty_cache()
        distributed.barrier()
        if pair is not None:
            distributed.destroy_process_group(groups[pair])
    told: list[tuple[str, dict[Pair, list[float]]]] = [("", {})] * (nodes * gpus)
    distributed.all_gather_object(told, (os.environ["NODE_NAME"], mine))
    if rank == 0:
        every = {pair: steps for _, found in told for pair, steps in found.items()}
        print(*table([name for name, _ in told[::gpus]], whole, every), sep="\n", flush=True)
    distributed.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
