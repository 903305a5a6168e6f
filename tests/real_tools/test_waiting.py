"""Tools that wait in vain for each other: who is blamed by a validation, and how a rehearsal has them end.

The tools wait most of their time, so they have a virtual machine that the others do not use.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from aks_infiniband.validation.payload.programs.sockets import LISTEN

from rehearsal.real_tools.machine import Machine, MachineError
from tests.real_tools.containers import ADDRESSES, PATIENCE_SECONDS, Containers, two_containers, wait_until
from tests.real_tools.whole_validation import Lane

# The machine is made and started in the first test: minutes on a busy one.
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


def test_an_hca_without_device_file_is_named_and_no_other(lane: Lane) -> None:
    found = lane.validate({1: {"LACKS": "mlx5_2"}}, tries=1)  # each try takes as long as a connection may

    assert found.report["verdict"] == "fail"
    assert found.failed == {("node-b", "mlx5_2")}
    assert "not in the pod" in found.causes


def test_of_connections_that_are_dropped_between_pods_no_hca_is_blamed(lane: Lane) -> None:
    isolated = "for pod in 0 1; do echo {} >/sys/class/net/pod-$pod/brport/isolated; done"
    with lane.while_(isolated.format(1), isolated.format(0)):
        found = lane.validate(seconds=300, tries=1)  # each connection is waited for in vain, and has a share of this

    assert found.report["verdict"] == "fail"
    assert found.failed == {(None, None)}
    assert "network policy" in found.causes


@pytest.fixture(scope="module")
def containers(lane: Lane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Containers]:
    """Once for all tests, for a pod of the machine keeps the address that it was given."""
    with two_containers(lane.machine, tmp_path_factory.mktemp("run")) as containers:
        yield containers


def test_a_tool_of_a_rehearsal_shows_its_sockets_and_ends_with_its_caller(lane: Lane, containers: Containers) -> None:
    def runs() -> str:
        return lane.machine.run(["sh", "-c", "pidof ib_write_bw || true"]).output

    server = containers.start("node-b", "ib_write_bw", "-d", "mlx5_0", "-p", "18700")
    wait_until(lambda: containers.sockets("node-b") == {LISTEN})
    assert runs()

    server.kill()
    wait_until(lambda: not runs())


def test_a_server_of_a_rehearsal_that_is_knocked_at_ends_and_says_so(containers: Containers) -> None:
    assert not containers.reach("node-a", "node-b", 18701)
    server = containers.start("node-b", "ibv_rc_pingpong", "-d", "mlx5_0", "-p", "18701")

    wait_until(lambda: containers.reach("node-a", "node-b", 18701))  # its sockets may still be those of a killed one

    assert server.wait(PATIENCE_SECONDS) == 1
    assert "Couldn't read remote address" in containers.said("node-b")


def test_a_rehearsals_tool_speaks_of_hcas_by_their_names_there(containers: Containers) -> None:
    server = containers.start("node-b", "ib_write_bw", "-d", "mlx5_0", "-p", "18702", "-n", "20")
    containers.start("node-a", "ibv_devinfo").wait(PATIENCE_SECONDS)
    listed = re.findall(r"hca_id:\s+(\S+)", containers.said("node-a"))
    wait_until(lambda: containers.sockets("node-b") == {LISTEN})
    to_server = ("-d", "mlx5_0", "-p", "18702", "-n", "20", ADDRESSES["node-b"])
    client = containers.start("node-a", "ib_write_bw", *to_server)

    assert listed == ["mlx5_0"]
    assert [client.wait(PATIENCE_SECONDS), server.wait(PATIENCE_SECONDS)] == [0, 0], containers.said("node-a")
    for node in ADDRESSES:
        assert re.search(r"Device\s+: mlx5_0$", containers.said(node), re.MULTILINE)


def test_a_machine_that_hangs_at_every_start_is_given_up_with_a_word_on_each(
    lane: Lane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = Machine(tmp_path, share=tmp_path, boot_seconds=(0.5, 0.5))

    with pytest.raises(MachineError, match="has hung 2 times"):
        machine.__enter__()

    assert capsys.readouterr().out.count("has not started within 0.5 s: ") == 2
