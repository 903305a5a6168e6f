"""The engine's event log becomes steps with durations, and messages."""

from collections.abc import Callable
from typing import Any

import pytest

from rehearsal.engine.events import Diagnostic, EventReader, Started, Step

URN = "urn:pulumi:dev::aks-infiniband::aks-infiniband:index:RdmaCluster$kubernetes:core/v1:Namespace::operators"


def metadata(operation: str, **state: Any) -> dict[str, Any]:
    return {"urn": URN, "op": operation, "type": "kubernetes:core/v1:Namespace", "new": {"custom": True, **state}}


def test_a_created_resource_is_a_step_with_the_time_between_its_two_events() -> None:
    reader = EventReader()
    (started,) = reader.read({"resourcePreEvent": {"metadata": metadata("create")}}, 10.0)
    (step,) = reader.read({"resOutputsEvent": {"metadata": metadata("create")}}, 14.5)
    assert started == Started(urn=URN, operation="create")
    assert step == Step(urn=URN, operation="create", begun=10.0, ended=14.5, custom=True)
    assert (step.name, step.type, step.changed) == ("operators", "kubernetes:core/v1:Namespace", True)
    assert step.seconds == 4.5


def test_an_unchanged_resource_is_a_step_that_changed_nothing() -> None:
    reader = EventReader()
    assert list(reader.read({"resourcePreEvent": {"metadata": metadata("same")}}, 1.0)) == []
    (step,) = reader.read({"resOutputsEvent": {"metadata": metadata("same")}}, 1.0)
    assert isinstance(step, Step)
    assert not step.changed


def test_a_failed_operation_is_a_failed_step() -> None:
    reader = EventReader()
    list(reader.read({"resourcePreEvent": {"metadata": metadata("create")}}, 1.0))
    (step,) = reader.read({"resOpFailedEvent": {"metadata": metadata("create")}}, 3.0)
    assert step == Step(urn=URN, operation="create", begun=1.0, ended=3.0, custom=True, failed=True)


def test_messages_keep_their_severity_and_progress_chatter_is_left_out() -> None:
    reader = EventReader()
    kept = {"diagnosticEvent": {"severity": "error", "message": "no quota\n", "urn": URN}}
    chatter = {"diagnosticEvent": {"severity": "info", "message": "[1/2] waiting", "ephemeral": True}}
    debug = {"diagnosticEvent": {"severity": "debug", "message": "x"}}
    assert list(reader.read(kept, 0.0)) == [Diagnostic(severity="error", message="no quota", urn=URN)]
    assert list(reader.read(chatter, 0.0)) == []
    assert list(reader.read(debug, 0.0)) == []


def test_a_component_is_told_from_what_a_provider_makes() -> None:
    component = metadata("create")
    component["new"] = {}
    reader = EventReader()
    assert list(reader.read({"resourcePreEvent": {"metadata": component}}, 1.0)) == []
    (step,) = reader.read({"resOutputsEvent": {"metadata": component}}, 2.0)
    assert isinstance(step, Step)
    assert not step.custom


TRACEBACK = (
    "Traceback (most recent call last):\n"
    '  File "/bin/pulumi-language-python-exec", line 197, in <module>\n'
    "    loop.run_until_complete(coro)\n"
    "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
)
WHOLE, BY_LINE = (lambda text: [text]), (lambda text: text.splitlines(keepends=True))


def shown(messages: list[str], severity: str = "info#err") -> list[str]:
    """The messages that are shown, from the engine's log and at its end."""
    reader = EventReader()
    events = [{"diagnosticEvent": {"severity": severity, "message": f"{message}\n"}} for message in messages]
    told = [*(told for event in events for told in reader.read(event, 0.0)), *reader.rest()]
    return [diagnostic.message for diagnostic in told if isinstance(diagnostic, Diagnostic)]


@pytest.mark.parametrize("pieces", [WHOLE, BY_LINE], ids=["in one piece", "line by line"])
@pytest.mark.parametrize(
    "text",
    [
        f"{TRACEBACK}KeyboardInterrupt\n",
        f"{TRACEBACK}KeyboardInterrupt: \n",
        f"Exception ignored in: <module 'threading'>\n{TRACEBACK}KeyboardInterrupt: \n",
    ],
)
def test_the_traceback_of_a_program_that_the_engine_cancelled_is_left_out(
    pieces: Callable[[str], list[str]], text: str
) -> None:
    assert shown([*pieces(text), "said afterwards"]) == ["said afterwards"]


@pytest.mark.parametrize("pieces", [WHOLE, BY_LINE], ids=["in one piece", "line by line"])
def test_every_other_traceback_is_told_whole(pieces: Callable[[str], list[str]]) -> None:
    assert shown(["said before", *pieces(f"{TRACEBACK}ValueError: no\n")]) == [
        "said before",
        f"{TRACEBACK}ValueError: no",
    ]


def test_a_traceback_that_is_cut_short_is_told_at_the_end() -> None:
    assert shown(TRACEBACK.splitlines()) == [TRACEBACK.rstrip()]


def test_an_error_that_speaks_of_an_interrupt_is_told() -> None:
    text = f"{TRACEBACK}KeyboardInterrupt"
    assert shown([text], severity="error") == [text]
