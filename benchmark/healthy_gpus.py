"""Measure this host's GPUs as a validation pod does, again and again, and write down how far healthy ones differ.

    python3 -m benchmark.healthy_gpus --gpus 1 --runs 40 --out results.json

Needs the CUDA runtime, cuBLAS, NVML and NCCL in the loader's path, and only Python's own library. The steps: an
all-reduce of small messages, launched one by one and as a graph; this host as if it should have a GPU more; GPU 0 with
another process at work on it, of several kinds; healthy runs, with nothing else on the GPUs, from which
`benchmark/gpus.py` draws its healthy pools.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parent.parent
_VALIDATION = _ROOT / "components" / "aks_infiniband" / "validation"
sys.path.insert(0, str(_VALIDATION))

from payload.collective import gpu, nccl  # noqa: E402 as the pods import it
from payload.gpus import judge, one, part, product  # noqa: E402
from payload.gpus.nvml import Nvml  # noqa: E402
from payload.say.checks import is_problem  # noqa: E402

SECONDS = 2.0
"""Seconds of load in each run, in addition to those to warm up."""
MESSAGES = (8, 1 << 20, 8 << 20, 64 << 20, 256 << 20)
TIMES, ROUNDS = 20, 7


def measured(gpus: int, node: str = "this-host") -> Any:
    """The payload's findings on all GPUs."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "PYTHONPATH": str(_VALIDATION)}
        place = part.Place(node, Path("/sys"), Path(scratch), environment)
        return part.measure(place, {"count": gpus, "seconds": SECONDS})


def said(measured: list[Any]) -> list[dict[str, Any]]:
    """The judgement of them, without what passes."""
    plan: Any = {"count": len(measured[0]["gpus"]), "seconds": SECONDS}
    checks = judge.judge_gpus([measured], plan, [one["node"] for one in measured])
    kept = ("check", "verdict", "node", "device", "measured", "cause")
    return [{key: check[key] for key in kept} for check in checks if check["verdict"] != "pass"]


def healthy(gpus: int, runs: int, seconds: float) -> dict[str, Any]:
    """So many runs, or as many as there is time for, each judged by itself, and all as nodes of one pool."""
    results: list[Any] = []
    told = []
    began = time.monotonic()
    while len(results) < runs and time.monotonic() - began < seconds:
        results.append(measured(gpus, f"run-{len(results)}"))
        told.append(said(results[-1:]))
        print(
            f"{time.strftime('%X')} run {len(results)}: {[one for one in told[-1] if named(one)] or 'names none'}",
            flush=True,
        )
    return {"runs": results, "said": told, "together": said(results)}


def named(check: dict[str, Any]) -> bool:
    """True if a check names a GPU or a machine as one that a person has to look at."""
    return bool(is_problem({"tries": None, **check}))


@contextmanager
def work(kind: str) -> Iterator[None]:
    """Another process at work on GPU 0."""
    command = [sys.executable, "-m", "benchmark.healthy_gpus", "--work", kind]
    process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield
    finally:
        process.kill()
        process.wait()


def do_work(kind: str) -> None:
    """The work of the other process, until it is killed."""
    device = gpu.Gpu(gpu.VENDORS[0], 0)
    queue, pause = KINDS[kind](device), 0.0
    print("begun", flush=True)
    while True:
        event = device.event()
        began = time.monotonic()
        queue()
        device.record(event)
        while not device.reached(event):
            time.sleep(0.0005)
        pause = 2.3 * (time.monotonic() - began) if kind == "products, 30 % of the time" else 0.0
        time.sleep(pause)


def _products(device: Any) -> Callable[[], None]:
    products = product.Products(device, 0)
    return lambda: products.queue(5)


def _copies(kind: int) -> Callable[[Any], Callable[[], None]]:
    def of(device: Any) -> Callable[[], None]:
        size = 1 << 28
        device.function("MemcpyAsync").argtypes = [
            *[ctypes.c_void_p] * 2,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_void_p,
        ]
        own = device.allocate(size)
        other = device.allocate(size) if kind == _WITHIN else device.made("MallocHost", ctypes.c_size_t(size))

        def queue() -> None:
            for _ in range(8):
                device.call("MemcpyAsync", own, other, size, kind, device.stream)

        return queue

    return of


def _nothing(device: Any) -> Callable[[], None]:
    device.allocate(1 << 30)
    return lambda: time.sleep(0.05)


_TO_GPU, _WITHIN = 1, 3
KINDS: dict[str, Callable[[Any], Callable[[], None]]] = {
    "nothing, 1 GiB taken": _nothing,
    "products without a pause": _products,
    "products, 30 % of the time": _products,
    "copies within its memory": _copies(_WITHIN),
    "copies from the host": _copies(_TO_GPU),
}


def with_others(gpus: int) -> dict[str, Any]:
    """The findings and the words while another process works on GPU 0, by its work."""
    told = {}
    for kind in KINDS:
        with work(kind):
            result = measured(gpus)
        told[kind] = {"found": result, "said": said([result])}
        others = result["gpus"][0].get("others")
        print(
            f"{time.strftime('%X')} {kind}: {others}; {[one['check'] for one in told[kind]['said'] if named(one)]}",
            flush=True,
        )
    return told


def with_one_missing(gpus: int) -> dict[str, Any]:
    """The checks of this host, measured as one that should have one GPU more."""
    result = measured(gpus + 1)
    told = said([result])
    print(f"{time.strftime('%X')} one GPU is missing: {[one for one in told if named(one)]}", flush=True)
    return {"found": result, "said": told}


def launched(ranks: int, *, of_one_gpu: bool) -> dict[str, Any]:
    """Small all-reduces, launched one by one and as a graph, in seconds of one; ranks of one GPU meet over sockets."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "benchmark.healthy_gpus", "--ranks", str(ranks), "--out"]
        meeting = nccl.unique_id()
        started = []
        for rank in range(ranks):
            out = str(Path(scratch) / str(rank))
            environment = {**os.environ, "NCCL_GRAPH_REGISTER": "0"}
            if of_one_gpu:
                environment["NCCL_HOSTID"] = f"host-{rank}"
            own = [
                *command,
                out,
                "--rank",
                str(rank),
                "--meeting",
                meeting,
                "--gpus",
                "1" if of_one_gpu else str(ranks),
            ]
            started.append(subprocess.Popen(own, cwd=_ROOT, env=environment))
        for process in started:
            process.wait(150)
        return json.loads((Path(scratch) / "0").read_text())  # type: ignore[no-any-return]


def one_rank(rank: int, ranks: int, gpus: int, meeting: str) -> dict[str, Any]:
    """One rank of these."""
    number = rank % gpus
    rates: dict[str, Any] = {}
    both = nccl.NcclRanks(rank=rank, ranks=ranks, gpu=number, meeting=meeting, limit_seconds=60)
    for message in MESSAGES if gpus > 1 else MESSAGES[:3]:
        both.allocate(message // 4)
        both.fill()
        both.timed(1)
        wrong, row = both.wrong(), {}
        for way in ("one by one", "graph"):
            both.one_by_one = "to compare" if way == "one by one" else None
            both.timed(TIMES)
            row[way] = sorted(both.largest(sum(both.timed(TIMES)))[0] / TIMES for _ in range(ROUNDS))[ROUNDS // 2]
            row[f"{way}, refused"] = both.one_by_one
        rates[str(message)] = {**row, "wrong": wrong}
    both.close()
    return rates


def captured_copies() -> dict[str, Any]:
    """Copies of 4 KiB within a GPU's memory, launched one by one and as a graph, in seconds of one."""
    device = gpu.Gpu(gpu.VENDORS[0], 0)
    kinds = [*[ctypes.c_void_p] * 2, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
    device.function("MemcpyAsync").argtypes = kinds
    one, other = device.allocate(4096), device.allocate(4096)

    def queue() -> None:
        for _ in range(TIMES):
            device.call("MemcpyAsync", one, other, 4096, _WITHIN, device.stream)

    graph = device.captured(queue)
    rates = {}
    for name, way in (("one by one", queue), ("graph", lambda: device.launch(graph))):
        begin, end = device.event(), device.event()
        times = []
        for _ in range(ROUNDS + 1):
            device.record(begin)
            way()
            device.record(end)
            while not device.reached(end):
                time.sleep(0.0005)
            times.append(device.seconds(begin, end) / TIMES)
        rates[name] = sorted(times[1:])[ROUNDS // 2]
    device.forget(graph)
    return rates


def _of_its_own(*arguments: str) -> str:
    """The output of this program, run by itself."""
    command = [sys.executable, "-m", "benchmark.healthy_gpus", *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True, timeout=60).stdout


def machine() -> dict[str, Any]:
    """The machine of the measurement."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpus = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    nvml = Nvml(one.pci_address(0))
    idle = {"processes": nvml.processes, "mebibytes": nvml.mebibytes, "busy": nvml.busy}
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "gpus": gpus,
        "cores": os.cpu_count(),
        "python": sys.version.split()[0],
        "kernel": os.uname().release,
        "idle": idle,
    }


def main() -> None:
    """Measure, and leave everything in one JSON file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, default=1, help="how many GPUs of this host take part")
    parser.add_argument("--runs", type=int, default=40, help="how often healthy GPUs are measured")
    parser.add_argument("--seconds", type=float, default=400.0, help="how long those runs may take in all")
    parser.add_argument("--out", type=Path, help="where the figures go, as JSON")
    parser.add_argument("--work", choices=KINDS, help="be the other process, until killed")
    parser.add_argument("--graph", action="store_true", help="launch copies one by one and as a graph, and print it")
    parser.add_argument("--rank", type=int, help="be a rank of the all-reduce")
    parser.add_argument("--ranks", type=int)
    parser.add_argument("--meeting")
    arguments = parser.parse_args()
    if arguments.work:
        do_work(arguments.work)
    if arguments.graph:
        print(json.dumps(captured_copies()))
        return
    if arguments.rank is not None:
        threading.Timer(140, os._exit, (1,)).start()
        result = one_rank(arguments.rank, arguments.ranks, arguments.gpus, arguments.meeting)
        arguments.out.write_text(json.dumps(result))
        os._exit(0)
    kept: dict[str, Any] = {"machine": machine(), "gpus": arguments.gpus}

    def keep(name: str, value: Any) -> None:
        kept[name] = value
        arguments.out.write_text(json.dumps(kept, indent=1), encoding="utf-8")

    # In a separate process: a program that has opened a GPU is other work on it.
    keep("copies in a graph", json.loads(_of_its_own("--graph")))
    print(json.dumps(kept), flush=True)
    of_one_gpu = arguments.gpus == 1
    keep("launched", launched(2 if of_one_gpu else arguments.gpus, of_one_gpu=of_one_gpu))
    print(json.dumps(kept["launched"]), flush=True)
    keep("missing", with_one_missing(arguments.gpus))
    keep("others", with_others(arguments.gpus))
    keep("healthy", healthy(arguments.gpus, arguments.runs, arguments.seconds))
    print(f"all runs as one pool: {[check for check in kept['healthy']['together'] if named(check)] or 'names none'}")


if __name__ == "__main__":
    main()
