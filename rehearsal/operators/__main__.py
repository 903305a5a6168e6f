"""python -m rehearsal.operators --run DIR --speed F: run the stand-in operators against a run's control plane."""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from pathlib import Path

from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.async_client import AsyncClient

from rehearsal.operators.loop import run
from rehearsal.run.folder import RunFolder, write_atomically
from rehearsal.run.latency import Latencies


async def serve(folder: Path, latencies: Latencies) -> None:
    """Run the operators until SIGTERM or SIGINT; `ready/operators` in the run folder says that they serve."""
    run_folder = RunFolder.at(folder)
    # trust_env off: no proxy of the laptop stands between us and the loopback.
    config = KubeConfig.from_file(run_folder.part_kubeconfig("operators"))
    client = AsyncClient(config=config, trust_env=False)
    task = asyncio.create_task(run(client, latencies))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    write_atomically(run_folder.ready_file("operators"), json.dumps({"pid": os.getpid()}))
    with contextlib.suppress(asyncio.CancelledError):
        await task


def main(arguments: list[str]) -> int:
    """Parse the command line and serve; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m rehearsal.operators", description=__doc__)
    parser.add_argument("--run", required=True, type=Path, metavar="DIR", help="run folder, with its kubeconfig")
    parser.add_argument("--speed", required=True, type=float, help="simulated seconds per second")
    options = parser.parse_args(arguments)
    latencies = Latencies(speed=options.speed)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    RunFolder.at(options.run).await_ready("kube-apiserver")
    asyncio.run(serve(options.run, latencies))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
