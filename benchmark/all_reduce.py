"""Run the collective payload on this host's GPUs as a validation pod would, and hold it against a plain loop.

    python3 benchmark/all_reduce.py --gpus 2 --out results.json

Needs PyTorch with CUDA or ROCm and nothing else. Payload and loop take turns, several times each, because a host's
bandwidth drifts by more than the two differ; then the payload is run with every fast path closed, and with one GPU
more than there is. `python3 -m benchmark.tables results.json` makes the tables of docs/measurements.md.
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

_VALIDATION = Path(__file__).resolve().parent.parent / "components" / "aks_infiniband" / "validation"
sys.path.insert(0, str(_VALIDATION))

from payload import collective, collective_judge  # noqa: E402 as the pods import it

GIB = 1 << 30
COMPARED = [GIB, 2 * GIB, 4 * GIB, 8 * GIB]
SWEEP = [8, 1 << 10, 32 << 10, 1 << 20, 8 << 20, 64 << 20, 512 << 20, *COMPARED, 16 * GIB]
SOCKET_SIZES = [8 << 20, 64 << 20, 512 << 20]
CLOSED = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_IB_DISABLE": "1"}
"""What is left to NCCL then is TCP."""
PLAN = {"iterations": 20, "warmup": 5, "seconds": 120, "size_seconds": 10, "operation_seconds": 60}


def payload_run(
    gpus: int,
    sizes: list[int],
    *,
    tuning: str = "nccl",
    processes: int | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, Any]:
    """One run of the payload, all nodes being this one."""
    place = collective.Place("this-host", 0, 1, processes or gpus, "127.0.0.1", collective.free_port())
    given = {**os.environ, "PYTHONPATH": str(_VALIDATION), **environment}
    with tempfile.TemporaryDirectory() as scratch:
        entry = collective.measure(
            place, tuning=tuning, plan={**PLAN, "sizes": sizes}, folder=folder or Path(scratch), environment=given
        )
    run: dict[str, Any] = collective.merged([entry], tuning=tuning, ranks_per_node=place.ranks_per_node)
    said = f"payload {tuning} {dict(environment) or ''}: {run['transport']}, {run['seconds']} s"
    print(f"{time.strftime('%X')} {said}", flush=True)
    for failure in run["failures"]:
        print(f"  rank {failure['rank']}: {failure['reason']}\n{failure['output']}", flush=True)
    return run


def blamed(run: dict[str, Any]) -> list[dict[str, Any]]:
    """What the payload's judgement says of a run whose ranks did not all come to their end."""
    expected = {"transport": "", "hcas": 0, "thresholds": {}, "small": None}
    checks = collective_judge.judge_collective({"runs": [run]}, expected)
    kept = ("device", "measured", "cause")
    return [{name: check[name] for name in kept} for check in checks if check["verdict"] == "fail"]


def killed_run(gpus: int) -> dict[str, Any]:
    """A run whose rank 1 is killed while it measures, as the kernel kills what takes too much memory."""
    with tempfile.TemporaryDirectory() as scratch:
        threading.Thread(target=_kill_rank, args=(1, Path(scratch)), daemon=True).start()
        return payload_run(gpus, [8 * GIB] * 100, tuning="ring", folder=Path(scratch))


def _kill_rank(rank: int, scratch: Path) -> None:
    """Kill a rank once it is in the midst of its sizes."""
    while not any(json.loads(file.read_text())["sizes"] for file in scratch.glob(f"*/gpu{rank}/result.json")):
        time.sleep(0.05)
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            ours = b"collective_rank" in environment.with_name("cmdline").read_bytes()
            if ours and f"\0RANK={rank}\0".encode() in environment.read_bytes():
                os.kill(int(environment.parent.name), signal.SIGKILL)


def loop_run(gpus: int, *, tuning: str) -> list[dict[str, Any]]:
    """One run of the plain loop."""
    port = str(collective.free_port())
    command = [sys.executable, str(Path(__file__).with_name("reference_loop.py")), *map(str, COMPARED)]
    shared = {**os.environ, **collective.TUNINGS[tuning], "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    ranks = [
        subprocess.Popen(
            command,
            env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(gpus)},
            stdout=subprocess.PIPE if rank == 0 else subprocess.DEVNULL,
            text=True,
        )
        for rank in range(gpus)
    ]
    output = ranks[0].communicate(timeout=120)[0]
    codes = [rank.wait(timeout=30) for rank in ranks]
    if any(codes):
        raise RuntimeError(f"the reference loop ended with exit codes {codes}")
    print(f"{time.strftime('%X')} loop {tuning}", flush=True)
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def compared(gpus: int, tuning: str, turns: int) -> dict[str, Any]:
    """Payload and loop by turns, and what each measured at each size."""
    runs = [(payload_run(gpus, COMPARED, tuning=tuning), loop_run(gpus, tuning=tuning)) for _ in range(turns)]
    rows = []
    for index, size in enumerate(COMPARED):
        payload = [run["sizes"][index]["bus_gb_per_s"] for run, _ in runs]
        loop = [found[index]["bus_gb_per_s"] for _, found in runs]
        events = [measured["events"] for measured in loop]
        rows.append(
            {
                "bytes": size,
                "payload": payload,
                "loop": events,
                "loop_wall_clock": [measured["wall_clock"] for measured in loop],
                "difference_percent": 100 * (statistics.median(payload) / statistics.median(events) - 1),
            }
        )
    return {"tuning": tuning, "turns": turns, "rows": rows}


def machine() -> dict[str, Any]:
    """What was measured on."""
    import torch  # noqa: PLC0415 the launcher does without

    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpus = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    topology = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True, check=False).stdout
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "gpus": gpus,
        "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        "python": sys.version.split()[0],
        "kernel": os.uname().release,
        "topology": topology,
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("NCCL_")},
    }


def main() -> None:
    """Measure, and leave everything in one JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", required=True, type=int, help="how many GPUs of this host take part")
    parser.add_argument("--turns", type=int, default=3, help="how often payload and loop take turns")
    parser.add_argument("--out", required=True, type=Path, help="where the figures go, as JSON")
    arguments = parser.parse_args()
    gpus: int = arguments.gpus
    found: dict[str, Any] = {"machine": machine(), "gpus": gpus}

    def keep(name: str, value: Any) -> None:
        found[name] = value
        arguments.out.write_text(json.dumps(found, indent=1), encoding="utf-8")

    keep("sweeps", [payload_run(gpus, SWEEP, tuning=tuning) for tuning in ("ring", "nccl")])
    keep("sockets", payload_run(gpus, SOCKET_SIZES, environment=CLOSED))
    keep("one_too_many", blamed(payload_run(gpus, [8 << 20], processes=gpus + 1)))
    keep("killed", blamed(killed_run(gpus)))
    keep("comparison", [compared(gpus, tuning, arguments.turns) for tuning in ("ring", "nccl")])
    for comparison in found["comparison"]:
        for row in comparison["rows"]:
            print(f"{comparison['tuning']} {row['bytes'] >> 30} GiB: {row['difference_percent']:+.2f} %", flush=True)


if __name__ == "__main__":
    main()
