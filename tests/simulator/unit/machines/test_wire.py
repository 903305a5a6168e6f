"""The way between simulated programs of different pods: sockets that belong to the run folder's owner alone."""

import os
import threading
from pathlib import Path

import psutil
import pytest

from rehearsal.machines.rdma_tools import wire

ADDRESS, PORT = "10.244.0.7", 18515


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A run folder below a path that is longer than the kernel takes as a socket's."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir(mode=0o700)
    return str(folder)


def listening() -> set[int]:
    """The ports on which this process listens: other tests of it have left some."""
    entries = psutil.Process().net_connections("inet")
    return {entry.laddr.port for entry in entries if entry.status == psutil.CONN_LISTEN}


def test_a_client_reaches_a_server_by_its_pods_address_and_nothing_listens_on_a_port(run: str) -> None:
    of_others = listening()
    server = wire.Listener(run, ADDRESS, PORT)
    heard: list[dict[str, str]] = []
    waiting = threading.Thread(target=lambda: heard.append(server.accept().hear()))
    waiting.start()
    wire.connect(run, ADDRESS, PORT).say(size=8, mode="read")
    waiting.join(60)
    assert heard == [{"size": "8", "mode": "read"}]
    assert listening() <= of_others
    assert [path.name for path in Path(run, "machines/wire").iterdir()] == [f"{ADDRESS}_{PORT}"]
    server.close()
    with pytest.raises(wire.NobodyError):
        wire.connect(run, ADDRESS, PORT)


@pytest.mark.field_report("R17")
@pytest.mark.parametrize(("address", "reached"), [("172.16.3.7", False), ("172.17.3.7", True)])
def test_a_pod_with_an_address_of_azures_rdma_network_is_not_reached(run: str, address: str, reached: bool) -> None:
    """The fate of a pod range that the settings refuse."""
    server = wire.Listener(run, address, PORT)
    try:
        wire.connect(run, address, PORT)
        assert reached
    except wire.NobodyError:
        assert not reached
    finally:
        server.close()


def test_two_servers_do_not_share_an_address_and_port(run: str) -> None:
    first = wire.Listener(run, ADDRESS, PORT)
    with pytest.raises(wire.InUseError, match="Address already in use"):
        wire.Listener(run, ADDRESS, PORT)
    other = wire.Listener(run, ADDRESS, PORT + 1)
    for server in (first, other):
        server.close()


def test_the_place_of_a_server_that_was_killed_is_free(run: str) -> None:
    pid = os.fork()
    if pid == 0:
        wire.Listener(run, ADDRESS, PORT)
        os._exit(0)
    os.waitpid(pid, 0)
    assert Path(run, "machines/wire", f"{ADDRESS}_{PORT}").exists()
    wire.Listener(run, ADDRESS, PORT).close()
