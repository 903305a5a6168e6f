"""Functions of plain arguments, by their names."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.validation.payload.collective.rank import bus_bandwidth, elements, foreseen_seconds, repeats
from aks_infiniband.validation.payload.light_check.state import errors_since
from aks_infiniband.validation.payload.look.counters import growth, judge_counters
from aks_infiniband.validation.payload.look.hcas import selects
from aks_infiniband.validation.payload.programs.endings import NOT_LISTENING, client_ending, server_ending, tells
from aks_infiniband.validation.payload.rdma.tools import command
from aks_infiniband.validation.payload.say.lines import shown_bytes
from aks_infiniband.validation.payload.say.steadiness import pointing, spread_of
from aks_infiniband.validation.payload.talk.quantities import quantity
from aks_infiniband.validation.payload.tcp.tools import NOT_LISTENING as SOCKPERF_NOT_LISTENING

from tests.cases import Case
from tests.unit.validation.cases.checks import shown

FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "bus_bandwidth": bus_bandwidth,
    "client_ending": client_ending,
    "elements": elements,
    "errors_since": errors_since,
    "foreseen_seconds": foreseen_seconds,
    "not_listening": lambda words: bool(NOT_LISTENING.search(words)),
    "not_listening_sockperf": lambda words: bool(SOCKPERF_NOT_LISTENING.search(words)),
    "growth": growth,
    "judge_counters": lambda *arguments: shown(judge_counters(*arguments), {}),
    "perftest_command": command,
    "pointing": lambda values: pointing(spread_of(values), steady="a setting", wide="congestion"),
    "quantity": quantity,
    "repeats": lambda seconds: repeats(seconds, iterations=20, warmup=5, budget_seconds=10.0),
    "selects": selects,
    "server_ending": lambda error, states, answered=True: server_ending(error, states, answered=answered),
    "shown_bytes": shown_bytes,
    "tells": tells,
}


def outcome_of_call(case: Case) -> Any:
    """A function by its name, with its arguments."""
    ((name, arguments),) = case.items()
    return FUNCTIONS[name](*arguments)


FAMILIES: Final = {"call": outcome_of_call}
