"""The end that is named for the endings of a measurement's client and server: every combination, and as the page says
it.
"""

import pytest
from aks_infiniband.validation.payload.programs.endings import (
    CLIENTS,
    NAMED,
    SERVERS,
    client_ending,
    server_ending,
    tells,
)

from pages.endings import with_table
from rehearsal.tools.paths import PROJECT

KILLED = "ib_write_bw did not end within 10 s and was killed"
NOT_FOUND = "ib_write_bw ended with code 1: IB device mlx5_0 not found"
GONE = (
    "ib_write_bw ended with code 1: ethernet_read_keys: Couldn't read remote address; Unable to read to socket/rdma_cm"
)
ZERO = (
    "ib_write_bw: the output has no result of a number above zero ('0.000000' is none); it ends with "
    "'8388608    0    0.000000    0.000000    0.000000'"
)


def test_there_is_an_answer_for_every_way_in_which_two_ends_can_end() -> None:
    assert set(NAMED) == {(client, server) for client in CLIENTS for server in SERVERS}


def test_the_page_has_the_table() -> None:
    page = (PROJECT / "docs/judging.md").read_text()
    assert with_table(page) == page, "make docs"


def test_a_client_that_says_what_is_wrong_with_its_own_side_is_named_whatever_its_server_did() -> None:
    for server in SERVERS:
        assert NAMED["said", server] in ("client", "both")


def test_a_server_that_says_what_is_wrong_with_its_own_side_is_named_whatever_its_client_did() -> None:
    for client in CLIENTS:
        assert NAMED[client, "said"] in ("server", "both")


def test_a_server_that_waited_or_only_saw_its_client_go_is_never_named() -> None:
    for client in CLIENTS:
        for server in ["waiting", "left", "stuck", "well"]:
            assert NAMED[client, server] not in ("server", "both")


def test_a_client_is_told_by_its_words_and_by_its_connection() -> None:
    for error, states, ending in [
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
        (ZERO, ("ESTABLISHED",), "zero"),
        ("ibv_rc_pingpong ended with code 1: Failed to modify QP to RTR; Couldn't connect to remote QP", (), "lost"),
    ]:
        assert client_ending(error, states) == ending


def test_a_server_is_told_likewise() -> None:
    for error, states, ending in [
        (None, (), "well"),
        (NOT_FOUND, (), "said"),
        (GONE, ("LISTEN",), "left"),
        ("ibv_rc_pingpong ended with code 1: 0/52: Couldn't read remote address", ("LISTEN",), "left"),
        (KILLED, ("LISTEN",), "waiting"),
        (KILLED, ("ESTABLISHED", "LISTEN"), "stuck"),
        (KILLED, (), "hung"),
        ("ib_write_bw was ended by signal 9", ("ESTABLISHED", "LISTEN"), "killed"),
    ]:
        assert server_ending(error, states, answered=True) == ending


def test_a_node_that_says_nothing_of_its_server_is_silent() -> None:
    assert server_ending(None, (), answered=False) == "silent"


@pytest.mark.parametrize("server", ["lost", "stuck"])
def test_a_client_that_hung_is_not_named_where_its_server_has_seen_it(server: str) -> None:
    """As real tools do on a busy machine: the connection of ibv_rc_pingpong is over before any program looks."""
    assert NAMED["hung", server] == "between"


def test_the_words_that_tell_are_of_the_end_that_is_named() -> None:
    assert tells("refused", "said") == "server"
    assert tells("said", "said") == "client"
    assert tells("left", "lost") == tells("hung", "lost") == "server"
    assert tells("dropped", "waiting") == "client"
