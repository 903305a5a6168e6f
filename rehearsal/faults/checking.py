"""The entries of a faults file checked: every mistake of the file at once, each with its key, value and what may be."""

from rehearsal.faults.kinds import CURES, EVENTS, FAULTS, KEYS, RELEASES

TYPE_CHECKING = False
if TYPE_CHECKING:  # modules that take long to import
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any, Final

    from rehearsal.faults.kinds import MachineFault

_ONE_OF: "Final[Mapping[str, tuple[str, ...]]]" = {"release": RELEASES, "curedBy": CURES, "event": EVENTS}
_EXAMPLE = "{fault: link-down, device: mlx5_3}"


class FaultsError(ValueError):
    """A faults file with mistakes; the text names all of them."""


def checked(faults: "Any", path: str) -> "list[dict[str, Any]]":
    """The entries of a faults file. path: names the file in the error. Raises FaultsError for any mistake."""
    if not isinstance(faults, list):
        raise FaultsError(
            f"{path}: must be a list of mappings, such as - {_EXAMPLE}, or [] for none, and is {faults!r}"
        )
    mistakes = [
        f"entry {number}: {mistake}" for number, entry in enumerate(faults, start=1) for mistake in _mistakes(entry)
    ]
    if mistakes:
        raise FaultsError("\n".join([f"{path}:", *(f"  - {mistake}" for mistake in mistakes)]))
    return faults


def _mistakes(entry: "Any") -> "Iterator[str]":
    if not isinstance(entry, dict):
        yield f"is {entry!r}; it must be a mapping such as {_EXAMPLE}"
        return
    name = entry.get("fault")
    fault = FAULTS.get(name) if isinstance(name, str) else None
    if "fault" not in entry:
        yield f"does not have the key fault; known faults are {', '.join(FAULTS)}"
    elif fault is None:
        yield f"fault is {name!r}; known faults are {', '.join(FAULTS)}{_meant(name, FAULTS)}"
    keys = fault.keys if fault else tuple(KEYS)
    for key, value in entry.items():
        if key not in keys:
            owner = f"the fault {fault.name}" if fault else "a fault"
            yield f"key {key!r} (value {value!r}) is none of {owner}, which has {', '.join(keys)}{_meant(key, keys)}"
        elif key != "fault" and not _is_allowed(key, value):
            yield f"{key} is {value!r}; it must be {KEYS[key]}"
    yield from _missing(entry, fault)


def _missing(entry: "dict[Any, Any]", fault: "MachineFault | None") -> "Iterator[str]":
    for key in fault.requires if fault else ():
        if key not in entry:
            yield f"has no {key}, which the fault {entry['fault']} needs: {KEYS[key]}"


def _is_allowed(key: str, value: "Any") -> bool:
    if key == "answer":
        from rehearsal.faults.registries import ANSWERS  # noqa: PLC0415 not for every tool of a machine

        return isinstance(value, str) and value in ANSWERS
    if key in _ONE_OF:
        return value in _ONE_OF[key]
    if key in ("node", "device", "pod", "message"):
        return isinstance(value, str) and value != ""
    if key == "cured":
        return isinstance(value, list) and all(isinstance(node, str) for node in value)
    return _is_number(key, value)


def _is_number(key: str, value: "Any") -> bool:
    if isinstance(value, bool):  # in Python a number too
        return False
    if key in ("factor", "rateGbps", "minutes"):
        return isinstance(value, int | float) and 0 < value < float("inf")
    return isinstance(value, int) and value >= (1 if key == "times" else 0)


def _meant(given: "Any", known: "Collection[str]") -> str:
    """The known word that was probably meant, as the end of a sentence."""
    from difflib import get_close_matches  # noqa: PLC0415 slow to import, and most files have no mistake

    close = get_close_matches(str(given).lower(), known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]}?" if close else ""
