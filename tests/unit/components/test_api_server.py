"""A cluster that was just made is waited for until its API server takes connections."""

import asyncio
import json
from collections.abc import Iterator

import pulumi
import pytest
from aks_infiniband.access import api_server
from aks_infiniband.access.api_server import ApiServerError, reachable


def kubeconfig(server: str) -> str:
    return json.dumps({"clusters": [{"name": "aks", "cluster": {"server": server}}]})


NOBODY = kubeconfig("https://127.0.0.1:1")
"""Port 1 of this machine, on which nothing listens."""


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The program's output; it looks often here, and uses no proxy."""
    lines: list[str] = []
    monkeypatch.setattr(pulumi.log, "info", lines.append)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    monkeypatch.setattr(api_server, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(api_server, "getproxies", dict)
    return iter([lines])


def test_a_server_that_refuses_at_first_is_waited_for_and_told_once(
    said: Iterator[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["[Errno -2] Name or service not known", "Connection refused", None])

    async def refusal(*_: object) -> str | None:
        return next(answers)

    monkeypatch.setattr(api_server, "why_no_connection", refusal)
    given = kubeconfig("https://aks.hcp.southcentralus.azmk8s.io:443")
    assert asyncio.run(reachable(given)) == given
    (line,) = next(said)
    assert "waiting for the API server aks.hcp.southcentralus.azmk8s.io:443" in line
    assert "Name or service not known" in line


def test_one_that_never_takes_a_connection_is_named_with_the_reason_and_what_to_do() -> None:
    with pytest.raises(ApiServerError) as refused:
        asyncio.run(reachable(NOBODY, limit_seconds=0))
    for words in (
        "127.0.0.1:1 has taken no connection",
        "Connect call failed",
        "private",
        "authorizedIpRanges",
        "Then pulumi up",
    ):
        assert words in str(refused.value)


def test_one_that_accepts_and_speaks_no_tls_is_not_there_yet() -> None:
    """A load balancer does so before its API server is there."""

    async def program() -> str | None:
        closing = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
        return await api_server.why_no_connection("127.0.0.1", closing.sockets[0].getsockname()[1])

    assert asyncio.run(program())


def test_nothing_is_waited_for_at_preview_behind_a_proxy_or_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asyncio.run(reachable("{}")) == "{}"
    monkeypatch.setattr(api_server, "getproxies", lambda: {"https": "http://proxy.example:3128"})
    monkeypatch.setattr(api_server, "proxy_bypass", lambda _: False)
    assert asyncio.run(reachable(NOBODY)) == NOBODY
    monkeypatch.setattr(api_server, "getproxies", dict)
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    assert asyncio.run(reachable(NOBODY)) == NOBODY
