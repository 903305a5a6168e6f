"""Texts that tools and libraries print, and what is read of them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from aks_infiniband.validation.payload.collective import nccl_log
from aks_infiniband.validation.payload.collective.failures import explained
from aks_infiniband.validation.payload.look.nvlink import parse
from aks_infiniband.validation.payload.look.verbs import ask_libibverbs, ports_of
from aks_infiniband.validation.payload.programs.endings import client_ending, server_ending
from aks_infiniband.validation.payload.programs.install import Tools
from aks_infiniband.validation.payload.programs.process import Ended, OutputError, with_words
from aks_infiniband.validation.payload.rdma import tools as perftest
from aks_infiniband.validation.payload.tcp import tools as sockperf

from tests.cases import Case, changes
from tests.unit.field_recordings.recordings import excerpt, recordings

_TRANSCRIPTS: Final = Path(__file__).parents[1] / "transcripts"
_TEXTS: Final = frozenset(("text", "transcript", "recording"))
_GENERAL: Final = "NCCL error: unhandled system error, NCCL version 2.28.9"
_LAST: Final = "RuntimeError: NCCL error: remote process exited or there was a network error\nLast error:\n"


def text_of(case: Case) -> str:
    """The text of a case: `text` itself, or a `transcript` or `recording` by name. `replace` has the parts that are
    other ones, `kept` the number of characters before the text was cut off, `more` what follows.
    """
    text = str(case.get("text", ""))
    if "transcript" in case:
        text = (_TRANSCRIPTS / f"{case['transcript']}.txt").read_text(encoding="utf-8")
    if "recording" in case:
        text = excerpt(case["recording"])
    for old, new in case.get("replace", {}).items():
        assert old in text, old
        text = text.replace(old, new)
    return str(text[: case.get("kept")] + case.get("more", ""))


def outcome_of_log(case: Case) -> Any:
    """A log of NCCL or RCCL; without a text, that of two machines with InfiniBand, and what it then gives otherwise.
    `others`: logs of further ranks.
    """
    parts = [_evidence(each) for each in (case, *case.get("others", ()))]
    evidence = nccl_log.together(parts) if "others" in case else parts[0]
    return _told(evidence) if case.keys() & _TEXTS else changes(_told(_evidence({})), _told(evidence))


def _evidence(case: Case) -> nccl_log.Evidence:
    return nccl_log.read_log(text_of(case if case.keys() & _TEXTS else {**case, "transcript": "nccl-two-nodes"}))


def _told(evidence: nccl_log.Evidence) -> dict[str, Any]:
    values = {key: value for key, value in evidence.items() if value or value is False}
    return {"transport": nccl_log.transport_name(evidence), **values}


def outcome_of_figures(case: Case) -> dict[str, Any] | str:
    """The output of a tool that measures: what is measured as `kind`, of sockperf over a `network`."""
    try:
        if "network" in case:
            return sockperf.figures_of(case["kind"], text_of(case), case["network"])
        return perftest.figures_of(case["kind"], text_of(case))
    except OutputError as error:
        return str(error)


def outcome_of_listing(case: Case) -> Any:
    """A listing of devices by ibv_devinfo, or of GPUs by nvidia-smi; an `exit` code or None if it says how it ended."""
    if case.get("program") == "nvidia-smi":
        return parse(text_of(case))
    if "missing" in case:
        return ask_libibverbs(Tools(("ibv_devinfo",), tuple(case["installed"]), case["missing"]), execute=_never)
    if "exit" in case:
        ended = Ended("ibv_devinfo", case["exit"], text_of(case), "why")
        return ask_libibverbs(Tools((), (), None), execute=lambda *_: ended)
    return ports_of(text_of(case))


def _never(*_: object) -> Ended:
    raise AssertionError("a tool that is missing is not started")


def outcome_of_rank(case: Case) -> dict[str, Any]:
    """A rank that failed: its log, `output` and `reason`. The output next to a warning is general words."""
    log = text_of(case)
    warned = nccl_log.warnings_of(log.splitlines())
    output = _LAST + warned[-1] if warned else log
    if "recording" not in case:
        output = case.get("output", _GENERAL if log else None)
    reason = case.get("reason", "ended with exit code 1")
    failure = explained(reason, own=case.get("own", True), output=output, warned=warned)
    return {key: failure[key] for key in ("part", "cause", "peer") if failure[key]}


def outcome_of_ending(case: Case) -> Mapping[str, str]:
    """The endings of a tool as recorded: `case` and `side` are the recordings', `states` those of the connection."""
    return {
        entry["name"]: _ending(entry, case.get("states", ()))
        for entry in recordings().values()
        if entry.get("case") == case["case"] and entry.get("side", "") == case["side"]
    }


def _ending(entry: Mapping[str, Any], states: tuple[str, ...]) -> str:
    """The ending of one side, by its recorded words."""
    if entry["side"] == "server":
        return server_ending(_error(entry), ("LISTEN",), answered=True)
    return client_ending(_error(entry), states)


def _error(entry: Mapping[str, Any]) -> str:
    """The words on an end that left no figures; sockperf often ends with code 0 then."""
    if entry["tool"] == "sockperf" and entry["code"] == 0:
        return f"sockperf: {outcome_of_figures({'kind': entry['mode'], 'network': 'ipoib', 'text': entry['excerpt']})}"
    how = f"ended with code {entry['code']}" if entry["code"] is not None else "did not end within 10 s and was killed"
    return with_words(f"{entry['tool']} {how}", entry["excerpt"])


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "log": outcome_of_log,
    "figures": outcome_of_figures,
    "listing": outcome_of_listing,
    "rank": outcome_of_rank,
    "ending": outcome_of_ending,
}
