"""The table of parts: what runs, in which order, and on which addresses."""

import re
import socket
from pathlib import Path

import pytest

from rehearsal.control_plane import ALL_PARTS, CONTROL_PLANE_ONLY, SIMULATORS, RunFolder, UnknownPartError
from rehearsal.control_plane import parts as part_table
from rehearsal.control_plane.credentials import SERVICE_RANGE
from rehearsal.control_plane.parts import PORTS, Part, ServesHttps, WritesFile
from rehearsal.control_plane.ports import held_ports


@pytest.fixture(name="table")
def _table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Part]:
    monkeypatch.setattr(part_table, "tool", lambda name: Path("/tools") / name)  # unit tests build nothing
    ports = {name: 20000 + index for index, name in enumerate(PORTS)}
    run = RunFolder.at(tmp_path)
    return {part.name: part for part in part_table.table(run, ports=ports, speed=60.0, names=ALL_PARTS)}


def test_every_address_in_every_command_is_a_loopback_address_or_the_service_range(table: dict[str, Part]) -> None:
    arguments = [argument for part in table.values() for argument in part.argv]
    addresses = [match for argument in arguments for match in re.findall(r"\d+\.\d+\.\d+\.\d+[/\d]*", argument)]
    assert len(addresses) > 10
    assert set(addresses) == {"127.0.0.1", SERVICE_RANGE}


def test_no_part_skips_verification_of_certificates(table: dict[str, Part]) -> None:
    assert not [argument for part in table.values() for argument in part.argv if "insecure" in argument]
    assert "--anonymous-auth=false" in table["kube-apiserver"].argv
    assert "--client-cert-auth" in table["etcd"].argv
    assert "--peer-client-cert-auth" in table["etcd"].argv


def test_nothing_gives_metrics_or_profiles_to_who_shows_no_certificate(table: dict[str, Part]) -> None:
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        assert "--profiling=false" in table[name].argv
    assert not [word for word in table["kwok"].argv if "address" in word or "port" in word], (
        "kwok would serve everybody"
    )


def test_the_api_server_starts_without_a_default_route(table: dict[str, Part]) -> None:
    assert "--advertise-address=127.0.0.1" in table["kube-apiserver"].argv


def test_simulators_are_modules_that_get_the_run_folder_and_the_speed(table: dict[str, Part], tmp_path: Path) -> None:
    for name in SIMULATORS:
        assert table[name].argv[1:] == ("-m", f"rehearsal.{name}", "--run", str(tmp_path.resolve()), "--speed", "60.0")
        assert table[name].ready == WritesFile(path=tmp_path.resolve() / "ready" / name)
        assert table[name].after == ()


def test_parts_are_asked_on_the_port_that_they_are_told_to_serve(table: dict[str, Part]) -> None:
    for part in table.values():
        if isinstance(part.ready, ServesHttps):
            assert any(str(part.ready.port) in argument for argument in part.argv), part.name


def test_a_part_starts_only_after_parts_of_the_table(table: dict[str, Part]) -> None:
    assert {name for part in table.values() for name in part.after} <= set(table)


def test_a_selection_keeps_the_order_of_the_table_whatever_order_it_has() -> None:
    assert part_table.select(tuple(reversed(ALL_PARTS))) == ALL_PARTS
    assert part_table.select(CONTROL_PLANE_ONLY) == CONTROL_PLANE_ONLY


def test_an_unknown_part_is_refused_with_the_names_of_those_there_are() -> None:
    with pytest.raises(UnknownPartError, match="no such part: kubelet; there are etcd, kube-apiserver"):
        part_table.select((*CONTROL_PLANE_ONLY, "kubelet"))


def test_a_selection_without_the_whole_control_plane_is_refused() -> None:
    with pytest.raises(UnknownPartError, match="not selected: kube-scheduler"):
        part_table.select([name for name in ALL_PARTS if name != "kube-scheduler"])


def test_ports_are_free_and_all_different() -> None:
    names = [f"port-{number}" for number in range(50)]
    with held_ports(names) as ports:
        assert list(ports) == names
        assert len(set(ports.values())) == len(names)
        assert min(ports.values()) > 1023


def test_nobody_gets_the_port_of_a_part_before_it_listens_and_the_part_does() -> None:
    with held_ports(["part"]) as ports, socket.socket() as stranger, socket.socket() as part:
        with pytest.raises(OSError, match="in use"):
            stranger.bind(("127.0.0.1", ports["part"]))
        part.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        part.bind(("127.0.0.1", ports["part"]))
        part.listen()
        socket.create_connection(("127.0.0.1", ports["part"]), timeout=10).close()
