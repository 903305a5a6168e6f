"""The end that is named for the endings of a measurement's client and server: every combination, and as the page says
it.
"""

import pytest
from aks_infiniband.validation.payload.programs.endings import (
    CLIENTS,
    NAMED,
    SERVERS,
)

from pages.endings import with_table
from rehearsal.tools.paths import PROJECT


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


@pytest.mark.parametrize("server", ["lost", "stuck"])
def test_a_client_that_hung_is_not_named_where_its_server_has_seen_it(server: str) -> None:
    """As real tools do on a busy machine: the connection of ibv_rc_pingpong is over before any program looks."""
    assert NAMED["hung", server] == "between"
