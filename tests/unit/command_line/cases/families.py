"""The kinds of cases, and the outcome of a case of each."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.report.timeline import NoTimelineError

from tests.cases import Case, refusing
from tests.unit.command_line.cases import machine_by_machine
from tests.unit.command_line.cases.adopting import outcome_of_adoption
from tests.unit.command_line.cases.chosen import outcome_of_choice
from tests.unit.command_line.cases.deciding import outcome_of_answers
from tests.unit.command_line.cases.front_door import outcome_of_answer
from tests.unit.command_line.cases.host_engines import outcome_of_host_engine
from tests.unit.command_line.cases.ill_machines import outcome_of_category, outcome_of_evidence
from tests.unit.command_line.cases.inputs import outcome_of_commands, outcome_of_input
from tests.unit.command_line.cases.owned import outcome_of_ownership
from tests.unit.command_line.cases.preflights import outcome_of_preflight
from tests.unit.command_line.cases.reading import outcome_of_reading
from tests.unit.command_line.cases.reports import outcome_of_plots, outcome_of_results, outcome_since_report
from tests.unit.command_line.cases.sick import outcome_of_cluster
from tests.unit.command_line.cases.timelines import outcome_of_timeline
from tests.unit.command_line.cases.torn_down import (
    outcome_of_destroyed,
    outcome_of_group,
    outcome_of_leftovers,
    outcome_of_teardown,
)
from tests.unit.command_line.cases.upgrading import outcome_of_requests, outcome_of_writing
from tests.unit.command_line.cases.ways import outcome_of_nodes

FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "adopt": outcome_of_adoption,
    "init": outcome_of_answers,
    "evidence": outcome_of_evidence,
    "category": outcome_of_category,
    "doctor": outcome_of_cluster,
    "preflight": outcome_of_preflight,
    "way": outcome_of_nodes,
    "left": outcome_of_leftovers,
    "group": outcome_of_group,
    "teardown": outcome_of_teardown,
    "destroyed": outcome_of_destroyed,
    "input": outcome_of_input,
    "commands": outcome_of_commands,
    "chosen": outcome_of_choice,
    "upgrade_written": outcome_of_writing,
    "upgrade_requests": outcome_of_requests,
    "reading": refusing(outcome_of_reading, CommandError),
    "engine": outcome_of_host_engine,
    "answer": outcome_of_answer,
    "owned": refusing(outcome_of_ownership, CommandError),
    "plot": outcome_of_plots,
    "results": outcome_of_results,
    "since": outcome_since_report,
    "timeline": refusing(outcome_of_timeline, NoTimelineError),
    **machine_by_machine.FAMILIES,
}
"""By the first word of a file's name, what gives the outcome of a case."""
