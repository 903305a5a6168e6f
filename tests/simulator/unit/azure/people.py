"""People's logins to a simulated Azure, with Azure's own clients."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.login import endpoint_of, login
from aks_infiniband_cli.azure.rehearsed import VARIABLE

from rehearsal.azure.resource_manager import serve_people, serve_resource_manager
from rehearsal.control_plane.credentials import write_credentials
from rehearsal.run.folder import RunFolder
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure


@contextmanager
def logged_in(azure: Azure, folder: Path) -> Iterator[Path]:
    """Serve a simulated Azure to a shell of its rehearsal: the file with the login."""
    run = RunFolder.at(folder / "run")
    run.prepare()
    write_credentials(run, api_server_port=1)
    servers = [serve_resource_manager(azure.cloud), serve_people(azure.cloud, run)]
    with mock.patch.dict(os.environ, {VARIABLE: str(run.azure_login)}):
        for name in ("ARM_SUBSCRIPTION_ID", "REQUESTS_CA_BUNDLE"):
            os.environ.pop(name, None)
        try:
            yield run.azure_login
        finally:
            for server in servers:
                server.shutdown()
                server.server_close()


def clients() -> Clients:
    """Azure's clients of the user who is logged in."""
    return Clients(login(), endpoint_of({}), SUBSCRIPTION.subscription_id, polling_interval=0.01)
