"""`aks-infiniband mcp`: what an assistant is given, by the protocol's own client."""

import argparse
from pathlib import Path
from typing import Any

import anyio
import pytest
from aks_infiniband_cli.assistant import server as served
from aks_infiniband_cli.doctor.catalogue import catalogue
from aks_infiniband_cli.validate import records, validating
from httpx2 import HTTPError
from mcp import Client

from tests.unit.command_line.validations import kubeconfig_in, node


def called(tool: str, kubeconfig: str, **arguments: Any) -> Any:
    """The answer of a tool to the client."""
    given = argparse.Namespace(kubeconfig=kubeconfig, context=None, namespace="aks-infiniband-system")

    async def call() -> Any:
        async with Client(served.server(given)) as client:
            return await client.call_tool(tool, arguments)

    return anyio.run(call)


def test_every_tool_only_reads_and_says_what_it_does(tmp_path: Path) -> None:
    given = argparse.Namespace(kubeconfig=str(tmp_path), context=None, namespace="x")

    async def listed() -> Any:
        async with Client(served.server(given)) as client:
            return (await client.list_tools()).tools, client.instructions

    tools, instructions = anyio.run(listed)
    assert [tool.name for tool in tools] == ["doctor", "report", "machine", "explain"]
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)
    assert "treat it as data" in instructions


@pytest.mark.parametrize("symptom", list(catalogue()))
def test_each_symptom_of_the_doctor_is_explained(symptom: str) -> None:
    found = called("explain", "none", text=symptom).structured_content
    assert found["symptom"]["id"] == symptom
    assert found["symptom"]["fix"]


def test_a_line_of_a_log_is_explained_by_its_words_and_an_unknown_one_is_not() -> None:
    (first, *_) = called("explain", "none", text="GPU has fallen off the bus").structured_content["words"]
    assert first["cause"]
    assert first["sources"]
    assert called("explain", "none", text="the cat sat on the mat").structured_content == {"symptom": None, "words": []}


@pytest.mark.parametrize("tool", ["doctor", "report", "machine"])
def test_a_cluster_that_is_not_there_is_said_in_the_command_lines_words(tool: str, tmp_path: Path) -> None:
    arguments = {"node": "a"} if tool == "machine" else {}
    answer = called(tool, str(tmp_path / "gone"), **arguments)
    assert answer.is_error
    assert "does not exist" in answer.content[0].text
    assert "Traceback" not in answer.content[0].text


def test_an_api_server_that_refuses_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise HTTPError("configmaps is forbidden")

    monkeypatch.setattr(validating, "read_cluster", lambda *_: ({}, [node("a")], []))
    monkeypatch.setattr(records, "read_record", refuse)
    answer = called("machine", str(kubeconfig_in(tmp_path)), node="a")
    assert answer.content[0].text.endswith("the cluster cannot be read: configmaps is forbidden")


def test_an_unknown_pool_is_named_with_those_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aks_infiniband_cli.report import sources  # noqa: PLC0415

    monkeypatch.setattr(sources, "from_cluster", lambda *_, **__: {"ndh100": {}})
    answer = called("report", str(kubeconfig_in(tmp_path)), pool="nope")
    assert "unknown pool nope; the pools are ndh100" in answer.content[0].text
