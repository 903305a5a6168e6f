"""Run the simulated machines of one rehearsal: `python -m rehearsal.machines --run DIR --speed F`."""

import argparse
import asyncio
import contextlib
import json
import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.async_client import AsyncClient

from rehearsal.machines.rdma_tools.real import SOCKET
from rehearsal.machines.simulation import Simulation
from rehearsal.real_tools import REAL, TOOLS_VARIABLE
from rehearsal.real_tools.machine import Machine
from rehearsal.real_tools.pods import Pods
from rehearsal.run.folder import RunFolder, write_atomically
from rehearsal.run.latency import Latencies

PART = "machines"


async def run(folder: RunFolder, latencies: Latencies) -> None:
    """Simulate until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    config = KubeConfig.from_file(folder.part_kubeconfig(PART))
    # trust_env off: no proxy of the laptop stands between us and the loopback.
    async with AsyncClient(config=config, trust_env=False, field_manager="rehearsal-machines") as client:
        simulation = asyncio.create_task(Simulation.of(client, folder, latencies).run(lambda: _announce(folder)))
        stopped = asyncio.create_task(stop.wait())
        await asyncio.wait({simulation, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if simulation.done():
            simulation.result()
        simulation.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await simulation


def _announce(folder: RunFolder) -> None:
    """Say that the machines react from now on."""
    write_atomically(folder.ready_file(PART), json.dumps({"pid": os.getpid()}))


@contextlib.contextmanager
def _real_tools(folder: RunFolder) -> Iterator[None]:
    """Run the tools of pods in a virtual machine meanwhile."""
    place, share = folder.root / SOCKET, folder.machines / "real-tools"
    for made in (place.parent, share):
        made.mkdir(parents=True, exist_ok=True)
    with Machine(share, share=share) as machine:
        Pods(machine, place)
        try:
            yield
        finally:
            place.unlink(missing_ok=True)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m rehearsal.machines", description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="the rehearsal's run folder")
    parser.add_argument("--speed", type=float, required=True, help="simulated seconds per real second")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    folder, latencies = RunFolder.at(arguments.run), Latencies(speed=arguments.speed)
    folder.await_ready("kube-apiserver")
    with _real_tools(folder) if os.environ.get(TOOLS_VARIABLE) == REAL else contextlib.nullcontext():
        asyncio.run(run(folder, latencies))


if __name__ == "__main__":
    main()
