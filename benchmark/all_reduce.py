"""Run the collective payload on this host's GPUs as a validation pod would, and hold it against nccl-tests.

    python3 benchmark/all_reduce.py --gpus 2 --nccl-tests nccl-tests/build/all_reduce_perf --out results.json

Needs NCCL, the CUDA runtime, and NVIDIA's nccl-tests, built for the same NCCL. The payload and nccl-tests take turns,
several times each, because a host's bandwidth drifts by more than they differ; then the payload is run with every fast
path closed, with one GPU more than there is, and with a rank that is killed, and checks a message in which two elements
are changed. `python3 -m benchmark.tables results.json` makes the tables of docs/measurements.md.
"""

import argparse
import contextlib
import ctypes
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

from payload.collective import gpu, judge, nccl, results  # noqa: E402 as the pods import it
from payload.collective import part as collective  # noqa: E402

GIB = 1 << 30
COMPARED = [1 << 20, 64 << 20, GIB, 2 * GIB, 4 * GIB, 8 * GIB]
SWEEP = sorted({*COMPARED, 8, 1 << 10, 32 << 10, 8 << 20, 512 << 20, 16 * GIB})
SOCKET_SIZES = [8 << 20, 64 << 20, 512 << 20]
CLOSED = {"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_IB_DISABLE": "1"}
"""Only TCP is left to NCCL then."""
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
    meeting = collective.meeting_point()
    place = collective.Place("this-host", 0, 1, processes or gpus, meeting, ())
    plan = {**PLAN, "sizes": sizes}
    variables = {**os.environ, "PYTHONPATH": str(_VALIDATION), **environment}
    with tempfile.TemporaryDirectory() as scratch:
        entry = collective.measure(
            place, tuning=tuning, plan=plan, folder=folder or Path(scratch), environment=variables
        )
    run: dict[str, Any] = results.merged([entry], tuning=tuning, ranks_per_node=place.ranks_per_node)
    said = f"payload, {tuning} {dict(environment) or ''}: {run['transport']}, {run['seconds']} s"
    print(f"{time.strftime('%X')} {said}", flush=True)
    for failure in run["failures"]:
        print(f"  rank {failure['rank']}: {failure['reason']}\n{failure['output']}", flush=True)
    return run


def blamed(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The payload's judgement of a run whose ranks did not all come to their end."""
    expected = {"transport": "", "hcas": 0, "thresholds": {}, "small": None}
    checks = judge.judge_collective({"runs": [run]}, expected)
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
            ours = b"payload.collective.rank" in environment.with_name("cmdline").read_bytes()
            if ours and f"\0RANK={rank}\0".encode() in environment.read_bytes():
                os.kill(int(environment.parent.name), signal.SIGKILL)


def nccl_tests_run(program: Path, gpus: int, *, tuning: str) -> dict[int, float]:
    """One run of nccl-tests, a thread for each GPU: bus bandwidth by size, in place, as the payload reduces."""
    command = [str(program), "-t", str(gpus), "-g", "1", "-b", str(COMPARED[0]), "-e", str(COMPARED[-1]), "-f", "2"]
    command += ["-n", str(PLAN["iterations"]), "-w", str(PLAN["warmup"]), "-c", "0"]
    variables = {**os.environ, **collective.TUNINGS[tuning]}
    said = subprocess.run(command, env=variables, capture_output=True, text=True, check=True, timeout=120).stdout
    rows = [line.split() for line in said.splitlines() if line.strip() and not line.startswith("#")]
    print(f"{time.strftime('%X')} nccl-tests {tuning}", flush=True)
    return {int(row[0]): float(row[-2]) for row in rows if row[0].isdigit()}


def compared(gpus: int, tuning: str, program: Path, turns: int) -> dict[str, Any]:
    """Both by turns, and what each measured at each size."""
    rates: dict[str, list[dict[int, float]]] = {"nccl": [], "nccl_tests": []}
    for _ in range(turns):
        run = payload_run(gpus, COMPARED, tuning=tuning)
        rates["nccl"].append({size["bytes"]: size["bus_gb_per_s"] for size in run["sizes"]})
        rates["nccl_tests"].append(nccl_tests_run(program, gpus, tuning=tuning))
    rows = []
    for size in COMPARED:
        values = {name: [run[size] for run in runs] for name, runs in rates.items()}
        asked = statistics.median(values["nccl_tests"])
        off = 100 * (statistics.median(values["nccl"]) / asked - 1)
        rows.append({"bytes": size, **values, "difference_percent": {"nccl": off}})
    return {"tuning": tuning, "turns": turns, "rows": rows}


def changed_message(size: int) -> dict[str, Any]:
    """The check's words on a sum, and on the same with one element changed in its midst and one at its end."""
    device = gpu.Gpu(gpu.VENDORS[0], 0)
    expected = nccl.repeated(gpu.expected_sum, 1)
    message = device.allocate(size)
    device.fill(message, size, expected)
    device.differing(message, 4, expected)  # once, so that the program is there
    began = time.perf_counter()
    right = device.differing(message, size, expected)
    seconds = time.perf_counter() - began
    for place in (size // 8 * 4, size - 4):
        device.write(message + place, b"\x01\x02\x03\x04")
    result = {"bytes": size, "seconds": seconds, "right": right, "changed": 2}
    result["found"] = device.differing(message, size, expected)
    began = time.perf_counter()
    result["found_here"] = device.differing_here(message, size, expected)
    result["seconds_here"] = time.perf_counter() - began
    device.free(message)
    return result


def nccl_version() -> str:
    """The library's version, which it gives as one number: 22809 for 2.28.9."""
    number = ctypes.c_int()
    gpu.collectives()[1].ncclGetVersion(ctypes.byref(number))
    return f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"


def machine() -> dict[str, Any]:
    """The machine of the measurement."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpus = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    topology = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True, check=False).stdout
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "gpus": gpus,
        "nccl": nccl_version(),
        "python": sys.version.split()[0],
        "kernel": os.uname().release,
        "topology": topology,
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("NCCL_")},
    }


def main() -> None:
    """Measure, and leave everything in one JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", required=True, type=int, help="how many GPUs of this host take part")
    parser.add_argument("--turns", type=int, default=3, help="how often both take turns")
    parser.add_argument("--nccl-tests", required=True, type=Path, help="all_reduce_perf of nccl-tests")
    parser.add_argument("--out", required=True, type=Path, help="where the figures go, as JSON")
    arguments = parser.parse_args()
    gpus: int = arguments.gpus
    results: dict[str, Any] = {"machine": machine(), "gpus": gpus}

    def keep(name: str, value: Any) -> None:
        results[name] = value
        arguments.out.write_text(json.dumps(results, indent=1), encoding="utf-8")

    keep("changed", changed_message(16 * GIB))
    keep("sweeps", [payload_run(gpus, SWEEP, tuning=tuning) for tuning in ("ring", "nccl")])
    keep("sockets", payload_run(gpus, SOCKET_SIZES, environment=CLOSED))
    keep("one_too_many", blamed(payload_run(gpus, [8 << 20], processes=gpus + 1)))
    keep("killed", blamed(killed_run(gpus)))
    keep("comparison", [compared(gpus, tuning, arguments.nccl_tests, arguments.turns) for tuning in ("ring", "nccl")])
    for comparison in results["comparison"]:
        for row in comparison["rows"]:
            off = ", ".join(f"{name} {percent:+.2f} %" for name, percent in row["difference_percent"].items())
            print(f"{comparison['tuning']} {row['bytes'] >> 20} MiB: {off}", flush=True)


if __name__ == "__main__":
    main()
