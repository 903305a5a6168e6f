"""The end that is named for the endings of a measurement's client and server: every combination, and as the page says
it.
"""

from typing import Any

import pytest
from aks_infiniband.validation.payload.programs.endings import (
    CLIENTS,
    NAMED,
    SERVERS,
    client_ending,
    server_ending,
    tells,
)
from aks_infiniband.validation.payload.rdma.judge import judge_rdma
from aks_infiniband.validation.payload.rdma.run import measure

from pages.endings import with_table
from rehearsal.tools.paths import PROJECT
from tests.unit.validation.fabric import Fabric

KILLED = "ib_write_bw did not end within 10 s and was killed"
NOT_FOUND = "ib_write_bw ended with code 1: IB device mlx5_0 not found"
GONE = (
    "ib_write_bw ended with code 1: ethernet_read_keys: Couldn't read remote address; Unable to read to socket/rdma_cm"
)


def test_there_is_an_answer_for_every_way_in_which_two_ends_can_end() -> None:
    assert set(NAMED) == {(client, server) for client in CLIENTS for server in SERVERS}


def test_the_page_has_the_table() -> None:
    page = (PROJECT / "docs/judging.md").read_text()
    assert with_table(page) == page, "make docs"


@pytest.mark.parametrize("server", SERVERS)
def test_a_client_that_says_what_is_wrong_with_its_own_side_is_named_whatever_its_server_did(server: str) -> None:
    assert NAMED["said", server] in ("client", "both")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_server_that_says_what_is_wrong_with_its_own_side_is_named_whatever_its_client_did(client: str) -> None:
    assert NAMED[client, "said"] in ("server", "both")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("server", ["waiting", "left", "stuck", "well"])
def test_a_server_that_waited_or_only_saw_its_client_go_is_never_named(client: str, server: str) -> None:
    assert NAMED[client, server] not in ("server", "both")


@pytest.mark.parametrize(
    ("error", "states", "ending"),
    [
        (NOT_FOUND, (), "said"),
        ("ib_read_bw ended with code 7: IB device mlx5_0 not found", (), "said"),
        ("ib_read_lat ended with code 17: Completion with error at client; Failed status 12: wr_id 0", (), "lost"),
        (GONE, ("ESTABLISHED",), "left"),
        ("ib_write_bw ended with code 1: Couldn't connect to 10.244.0.2:18600", (), "refused"),
        ("ib_write_bw ended with code 1: Couldn't connect to 10.244.0.2:18600", ("SYN_SENT",), "dropped"),
        (KILLED, ("SYN_SENT",), "dropped"),
        (KILLED, ("ESTABLISHED", "SYN_SENT"), "stuck"),
        (KILLED, (), "hung"),
        (f"{KILLED}: Couldn't allocate MR", (), "said"),
        ("ib_write_bw was ended by signal 9", ("ESTABLISHED",), "killed"),
        ("ib_write_bw ended with code 1: something new", (), "unclear"),
        ("the node did not answer in time", (), "silent"),
        ("ibv_rc_pingpong ended with code 1: Failed to modify QP to RTR; Couldn't connect to remote QP", (), "lost"),
    ],
)
def test_a_client_is_told_by_its_words_and_by_its_connection(error: str, states: Any, ending: str) -> None:
    assert client_ending(error, states) == ending


@pytest.mark.parametrize(
    ("error", "states", "ending"),
    [
        (None, (), "well"),
        (NOT_FOUND, (), "said"),
        (GONE, ("LISTEN",), "left"),
        ("ibv_rc_pingpong ended with code 1: 0/52: Couldn't read remote address", ("LISTEN",), "left"),
        (KILLED, ("LISTEN",), "waiting"),
        (KILLED, ("ESTABLISHED", "LISTEN"), "stuck"),
        (KILLED, (), "hung"),
        ("ib_write_bw was ended by signal 9", ("ESTABLISHED", "LISTEN"), "killed"),
    ],
)
def test_a_server_is_told_likewise(error: str | None, states: Any, ending: str) -> None:
    assert server_ending(error, states, answered=True) == ending


def test_a_node_that_says_nothing_of_its_server_is_silent() -> None:
    assert server_ending(None, (), answered=False) == "silent"


def of_last(client: tuple[str, list[str]], server: tuple[str, list[str]] | None, nodes: int = 4) -> list[Any]:
    """The checks if n1 is the client of n2 and the two end so, all others being well."""
    fabric = Fabric(nodes, 1)
    do = fabric.do

    def answers(step: Any) -> Any:
        found: Any = {node: list(given) for node, given in do(step).items()}
        if step["kind"] != "write-bandwidth":
            return found
        for number, answer in enumerate(found["n1"]):
            found["n1"][number] = {**answer, "values": None, "error": client[0], "sockets": client[1]}
            if server:
                bad = {"task": answer["task"], "server_error": server[0], "server_sockets": server[1]}
                found["n2"].append(bad)
        return found

    limits: Any = {}
    return judge_rdma(measure(answers, fabric.rails, limits, tries=1), limits, {})


def failed(client: tuple[str, list[str]], server: tuple[str, list[str]] | None, nodes: int = 4) -> list[Any]:
    """The checks that fail then."""
    return [check for check in of_last(client, server, nodes) if check["verdict"] == "fail"]


def test_a_server_that_was_killed_in_silence_is_not_blamed_for_its_clients_complaint() -> None:
    (check,) = failed((NOT_FOUND, []), (KILLED, ["LISTEN"]))
    assert (check["node"], check["device"]) == ("n1", "ib0")
    assert "its /dev/infiniband file is not in the pod" in str(check["cause"])


def test_the_clients_own_words_are_explained_before_the_peers_was_killed() -> None:
    lost = "ibv_rc_pingpong ended with code 1: Failed status transport retry counter exceeded (12) for wr_id 2"
    checks = failed((lost, ["ESTABLISHED"]), (KILLED, ["ESTABLISHED", "LISTEN"]))
    assert checks
    assert all("packets do not arrive" in str(check["cause"]) for check in checks)
    assert not any("hung without a word" in str(check["cause"]) for check in checks)


def test_a_server_that_never_listened_is_named_where_nobody_could_connect() -> None:
    (check,) = failed(("ib_write_bw ended with code 1: Couldn't connect to 10.0.0.2:18600", []), (KILLED, []))
    assert (check["node"], check["device"]) == ("n2", "ib0")
    assert "hung without a word" in str(check["cause"])


def test_a_connection_that_is_never_answered_names_no_hca() -> None:
    (check,) = failed((KILLED, ["SYN_SENT"]), (GONE, ["LISTEN"]))
    assert (check["node"], check["device"]) == (None, None)
    assert "drops them" in str(check["cause"])
    assert "the pod network from n1 to n2" in str(check["cause"])


@pytest.mark.parametrize("server", ["lost", "stuck"])
def test_a_client_that_hung_is_not_named_where_its_server_has_seen_it(server: str) -> None:
    """As real tools do on a busy machine: the connection of ibv_rc_pingpong is over before any program looks."""
    assert NAMED["hung", server] == "between"


def test_both_are_named_where_both_say_what_is_wrong_with_them() -> None:
    checks = failed((NOT_FOUND, []), (NOT_FOUND, []))
    assert [(check["node"], check["device"]) for check in checks] == [("n1", "ib0"), ("n2", "ib0")]


def test_the_words_that_tell_are_of_the_end_that_is_named() -> None:
    assert tells("refused", "said") == "server"
    assert tells("said", "said") == "client"
    assert tells("left", "lost") == tells("hung", "lost") == "server"
    assert tells("dropped", "waiting") == "client"


ZERO = (
    "ib_write_bw: the output has no result of a number above zero ('0.000000' is none); it ends with "
    "'8388608    0    0.000000    0.000000    0.000000'"
)


def test_a_figure_of_zero_is_no_measurement_and_names_nobody() -> None:
    """A tool that ends well and has counted nothing, as perftest 4.5 does if a machine is too busy."""
    assert client_ending(ZERO, ("ESTABLISHED",)) == "zero"
    checks = of_last((ZERO, ["ESTABLISHED"]), None)
    assert {check["verdict"] for check in checks} <= {"not measured", "not judged"}
    assert all("too busy" in str(check["cause"]) for check in checks if check["verdict"] == "not measured")
    assert "not measured" in {check["verdict"] for check in checks}


def test_after_a_figure_of_zero_it_is_measured_again() -> None:
    fabric = Fabric(2, 1)
    fabric.wrong = lambda task, attempt: ZERO if attempt == 1 and task.kind == "write-bandwidth" else None
    limits: Any = {}
    _, checks = fabric.judge(limits)
    assert {check["verdict"] for check in checks} == {"not judged", "warn"}
    assert all("it took 2 tries" in str(check["cause"]) for check in checks if check["verdict"] == "warn")


def test_a_server_that_says_twice_what_is_wrong_with_it_is_not_waited_for_a_third_time() -> None:
    fabric = Fabric(2, 1)
    limits: Any = {}
    asked: list[Any] = []

    def do(step: Any) -> Any:
        asked.append(step)
        found: Any = {node: list(given) for node, given in fabric.do(step).items()}
        for number, answer in enumerate(found["n0"]):
            refused = "ib_read_lat ended with code 1: Couldn't connect to 10.0.0.2:18600"
            found["n0"][number] = {**answer, "values": None, "error": refused, "sockets": []}
            found["n1"].append({"task": answer["task"], "server_error": NOT_FOUND, "server_sockets": []})
        return found

    measured = measure(do, fabric.rails, limits, tries=3)
    assert len(asked) == 2 * 4, "two steps of each kind"
    bad = [check for check in judge_rdma(measured, limits, {}) if check["verdict"] == "fail"]
    assert {(check["node"], check["device"]) for check in bad} == {("n1", "ib0")}
