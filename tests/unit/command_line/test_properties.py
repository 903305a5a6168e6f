"""Properties that hold for any input of a command: every reader of documents takes one, or says why in few words."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from aks_infiniband.handwritten import HandwrittenError, json_document
from aks_infiniband.validation.reports import check_verdicts, report_with_values, whole_report
from aks_infiniband_cli.cluster import refuse_odd
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.report.sources import from_state
from aks_infiniband_cli.report.timeline import check, from_engine, from_result
from aks_infiniband_cli.validate.comparison import earlier
from httpx2 import HTTPError, Request, Response
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.command_line.test_report_page import report, state
from tests.unit.command_line.test_timeline import event_log, result
from tests.unit.command_line.test_timeline import state as stack_state

often = settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
DEEP: Any = []
for _ in range(300):
    DEEP = [DEEP]
ODD = st.sampled_from(
    [None, True, 0, -1, 1e308, 10**400, float("nan"), float("inf"), "", "x", "\x1b[2J", "\udcff", [], [None], {}, DEEP]
)


def places(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, Any]] = list(document.items()) if isinstance(document, dict) else []
    inner += enumerate(document) if isinstance(document, list) else []
    return [path, *(place for key, value in inner for place in places(value, (*path, key)))]


@st.composite
def broken(draw: Any, document: Any) -> Any:
    """A valid document with one value dropped, or another one in its place."""
    found, odd = copy.deepcopy(document), copy.deepcopy(draw(ODD))
    path = draw(st.sampled_from(places(document)))
    if not path:
        return odd
    outer = found
    for part in path[:-1]:
        outer = outer[part]
    if draw(st.booleans()):
        outer[path[-1]] = odd
    else:
        del outer[path[-1]]
    return found


def few_words(read: Callable[[], object]) -> None:
    """The reader takes it, or raises the one error with a sentence."""
    told = "taken"
    try:
        read()
    except (CommandError, HandwrittenError, HTTPError) as error:
        told = str(error)
    assert 0 < len(told) < 1500


def written(document: Any) -> bytes:
    return json.dumps(document).encode(errors="surrogatepass")


REPORT = report(networks=[], values={"all-reduce": 1.0})


EVENTS = [json.loads(line) for line in event_log()]


def read_timeline(odd: Any) -> None:
    check(odd)
    from_result(result(), odd)


READERS: dict[str, tuple[Any, Callable[[Any], object]]] = {
    "whole report": (REPORT, whole_report),
    "report with values": (REPORT, report_with_values),
    "verdicts of checks": (REPORT, check_verdicts),
    "report in a state": (REPORT, lambda odd: from_state(state(odd) if isinstance(odd, dict) else state())),
    "state": (json.loads(state(REPORT)), lambda odd: from_state(written(odd))),
    "earlier report": (REPORT, lambda odd: earlier(written(odd))),
    "earlier reports": ({"pools": {"p": {"report": REPORT}}}, lambda odd: earlier(written(odd))),
    "result": (result(), lambda odd: from_result(odd, stack_state())),
    "event": (EVENTS[1], lambda odd: from_engine([*map(written, [EVENTS[0], odd, *EVENTS[2:]])], stack_state())),
    "state of a timeline": (stack_state(), read_timeline),
}


@pytest.mark.parametrize("name", READERS)
@often
@given(data=st.data())
def test_any_document_is_read_or_told(name: str, data: Any) -> None:
    document, read = READERS[name]
    odd = data.draw(broken(document))
    few_words(lambda: read(odd))


NODES = {"kind": "NodeList", "items": [{"metadata": {"name": "n", "labels": {"a": "b"}}, "spec": {}, "status": {}}]}


@often
@given(data=st.data(), status=st.sampled_from([200, 403, 500]))
def test_any_answer_of_an_api_server_is_taken_or_told(data: Any, status: int) -> None:
    request = Request("GET", "https://127.0.0.1/api/v1/nodes")
    body = data.draw(st.one_of(st.binary(max_size=40), broken(NODES).map(written)))
    answer = Response(status, content=body, request=request, headers={"Content-Type": "application/json"})
    few_words(lambda: refuse_odd(answer))


@often
@given(st.binary(max_size=60))
def test_any_bytes_are_json_or_told(content: bytes) -> None:
    few_words(lambda: json_document(content))
