"""The simulated subscription of one rehearsal as a server, until it is stopped."""

import argparse
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Final

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from rehearsal.azure import asked_operations
from rehearsal.azure.clock import Clock
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.cluster_api import ClusterApi
from rehearsal.azure.described import RESOURCES_VARIABLE, described_kinds
from rehearsal.azure.doors import OwnDoor
from rehearsal.azure.operations import Operations
from rehearsal.azure.provider import AzureNative
from rehearsal.azure.resource_manager import serve_people, serve_resource_manager
from rehearsal.azure.resources import KINDS
from rehearsal.azure.store import Store
from rehearsal.azure.subscription import DEFAULT_FILE, SUBSCRIPTION_VARIABLE, load
from rehearsal.run.arguments import speed
from rehearsal.run.folder import RunFolder, write_atomically
from rehearsal.run.sizes import known_sizes

_WORKERS: Final = 64
"""Calls that can wait at once: the engine runs 16 operations side by side, and more engines may run."""
_MESSAGE_BYTES: Final = 400 * 1024 * 1024
"""The size that the engine's own plugins accept (sdk/go/common/util/rpcutil)."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """A simulator that is serving."""

    grpc_server: grpc.Server
    door: OwnDoor
    resource_managers: tuple[ThreadingHTTPServer, ...]
    cloud: Cloud

    @property
    def port(self) -> int:
        """The port on which the engine finds it, on loopback."""
        return self.door.port

    def stop(self) -> None:
        """End every call and wait; operations under way carry on at the next start."""
        self.cloud.clock.stop()
        self.grpc_server.stop(grace=1).wait()
        self.door.close()
        for manager in self.resource_managers:
            manager.shutdown()
            manager.server_close()


def serve(run: Path, speed: float, subscription: Path = DEFAULT_FILE, described: Path | None = None) -> Server:
    """Serve the subscription of a run folder. described: a team's own resource types, in addition to those of the
    table.

    Raises ValueError for a file or a speed that is wrong.
    """
    folder, clock = RunFolder.at(run), Clock(speed)
    cloud = Cloud(
        subscription=load(subscription),
        store=Store(folder.azure / "state.json", clock.changed),
        clock=clock,
        control_planes=lambda: [_control_plane(cluster, clock) for cluster in folder.clusters()],
        infiniband=lambda: known_sizes(folder.root),
    )
    operations = Operations(cloud, {**KINDS, **(described_kinds(described) if described else {})})
    options = [("grpc.max_receive_message_length", _MESSAGE_BYTES), ("grpc.max_send_message_length", _MESSAGE_BYTES)]
    grpc_server = grpc.server(ThreadPoolExecutor(_WORKERS), options=options)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(AzureNative(operations), grpc_server)
    folder.azure.mkdir(mode=0o700, parents=True, exist_ok=True)
    door = OwnDoor(folder.azure)
    grpc_server.add_insecure_port(f"unix:{door.inside}")
    managers = (serve_resource_manager(cloud), serve_people(cloud, folder))
    grpc_server.start()
    operations.resume()
    asked_operations.resume(cloud)
    return Server(grpc_server=grpc_server, door=door, resource_managers=managers, cloud=cloud)


@cache
def _control_plane(cluster: RunFolder, clock: Clock) -> ClusterApi:
    return ClusterApi(own=cluster.part_kubeconfig("azure"), handed_out=cluster.kubeconfig, clock=clock)


def announce(run: Path, port: int) -> None:
    """Announce that the simulator serves, and on which port."""
    write_atomically(RunFolder.at(run).ready_file("azure"), json.dumps({"port": port}))


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m rehearsal.azure", description=__doc__)
    parser.add_argument("--run", type=Path, required=True, help="the run folder")
    parser.add_argument("--speed", type=speed, required=True, help="simulated seconds in a real second")
    default = Path(os.environ.get(SUBSCRIPTION_VARIABLE, DEFAULT_FILE))
    parser.add_argument("--subscription", type=Path, default=default, help="what the subscription offers (YAML)")
    described = Path(path) if (path := os.environ.get(RESOURCES_VARIABLE)) else None
    parser.add_argument("--resources", type=Path, default=described, help="resource types of a team's own (YAML)")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    stopping = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: stopping.set())
    try:
        server = serve(options.run, options.speed, options.subscription, options.resources)
    except ValueError as error:
        parser.error(str(error))
    announce(options.run, server.port)
    logging.getLogger(__name__).info("the simulated subscription serves on port %d", server.port)
    stopping.wait()
    server.stop()
    return 0
