"""Reads what `dcgmi diag -j` prints, in the form of DCGM 3 and of DCGM 4: plain data in, plain data out.

Both forms: NVIDIA/DCGM v3.3.9 and v4.5.2, dcgmi/Diag.cpp (HelperDisplayAsJson, HelperDisplayFailureMessage), and
tests/field_recordings/dcgm.yaml.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.facts.dcgm import SOFTWARE_CATEGORIES
from aks_infiniband.handwritten import shortened

_ROOTS: Final = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
"""Names in DCGM 4, and in DCGM 3."""
_DRIVER: Final = "Driver Version Detected"
_DEPLOYMENT: Final = "Deployment"
_OF_HARDWARE: Final = ("Page Retirement/Row Remap", "Inforom", "software")
"""Tests of that category that speak of GPUs, too: of DCGM 3, and the one test of DCGM 4 that joins them all."""
_SHOWN: Final = 300
"""Characters of an output that is not a document, in an error."""

Document = Mapping[str, Any]
Row = dict[str, Any]


class DiagnosticsError(Exception):
    """DCGM has told nothing; the text says what it said instead."""


def diagnosis_of(printed: str) -> dict[str, Any]:
    """The result of the diagnostics, whichever form it has: `version` and `driver`, `serials` of the GPUs by DCGM's
    number, `results` (each with `category`, `test`, `device`, `gpu`, `result`, `words` and `hardware`), and `said`: the
    lines outside the document.

    printed: what came from dcgmi, both streams. Its exit code does not matter: it is 226 or 205 (-30, -51) if a test
    fails. Raises DiagnosticsError.
    """
    document, said = _document(printed)
    root = next(document[name] for name in _ROOTS if name in document)
    if not isinstance(root, dict) or not isinstance(document.get("metadata", {}), dict):
        raise DiagnosticsError(f"dcgmi printed a document of another form: {_beginning(printed)}")
    if "runtime_error" in root:
        raise DiagnosticsError("; ".join([" ".join(str(root["runtime_error"]).split()), *said]))
    about = document.get("metadata") or document
    try:
        results = [row for category in _each(root["test_categories"]) for row in _rows_of(category)]
        serials = _serials(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DiagnosticsError(
            f"dcgmi printed a document of another form than DCGM 3's and 4's ({type(error).__name__}: {error}): "
            f"{_beginning(printed)}"
        ) from error
    if not results:
        raise DiagnosticsError("; ".join(["it has run no test", *said]))
    return {
        "version": _word(about.get("version")),
        "driver": _word(about.get(_DRIVER)),
        "serials": serials,
        "results": results,
        "said": said,
    }


def _document(printed: str) -> tuple[Document, list[str]]:
    """The document, and the lines before and after it: dcgmi complains on the same stream. Raises DiagnosticsError."""
    for start in re.finditer(r"^\s*\{", printed, flags=re.MULTILINE):
        try:
            document, end = json.JSONDecoder().raw_decode(printed, start.end() - 1)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict) and any(name in document for name in _ROOTS):
            beside = f"{printed[: start.start()]}\n{printed[end:]}"
            return document, [line.strip() for line in beside.splitlines() if line.strip()]
    raise DiagnosticsError(f"dcgmi printed no document of DCGM 3 or 4: {_beginning(printed)}")


def _beginning(printed: str) -> str:
    return shortened(" ".join(printed.split())[:_SHOWN]) if printed.strip() else "it said nothing"


def _each(entries: Any) -> Iterator[Document]:
    """The entries of an array: jsoncpp leaves null in the places that DCGM 3 leaves out."""
    if not isinstance(entries, list):
        raise TypeError(f"{entries!r} is no array")
    return (entry for entry in entries if entry is not None)


def _rows_of(category: Document) -> Iterator[Row]:
    for test in _each(category.get("tests") or []):
        about = {"category": str(category["category"]), "test": str(test["name"])}
        rows = [_row(about, result) for result in _each(test.get("results") or [])]
        yield from rows
        summary = test.get("test_summary") or {}
        told = {word for row in rows for word in row["words"]}
        own = _row(about, summary) if summary else None
        # DCGM 4 repeats in its summary what it says of each device.
        if own and (not rows or set(own["words"]) - told):
            yield {**own, "words": [word for word in own["words"] if word not in told]}


def _row(about: Mapping[str, str], result: Document) -> Row:
    warnings = _warnings(result)
    gpu = _gpu(result)
    group, number = result.get("entity_group", "GPU"), result.get("entity_id", gpu)
    told = {entry["error_category"] for entry in warnings if "error_category" in entry}
    of_settings = about["category"] == _DEPLOYMENT and about["test"] not in _OF_HARDWARE
    return {
        **about,
        "device": "" if number is None else f"{group} {number}",
        "gpu": gpu,
        "result": str(result["status"]),
        # In the deployment tests of DCGM 3 the words stand in `warnings`, not in `warning`.
        "words": list(dict.fromkeys(_word(entry.get("warning") or entry.get("warnings")) for entry in warnings))
        or _info(result),
        "hardware": not told <= SOFTWARE_CATEGORIES if told else not of_settings,
    }


def _warnings(result: Document) -> list[Document]:
    """Each an object with its words and category; before DCGM 3.1 all that there is of them is one text."""
    warnings = result.get("warnings") or []
    return [{"warning": warnings}] if isinstance(warnings, str) else list(_each(warnings))


def _gpu(result: Document) -> int | None:
    """DCGM's number of the GPU; None if the result is about no single one, or about something else."""
    if "entity_id" in result:
        return int(result["entity_id"]) if str(result.get("entity_group")).upper() == "GPU" else None
    given = str(result.get("gpu_id", result.get("gpu_ids", "")))
    return int(given) if given.isdigit() else None


def _info(result: Document) -> list[str]:
    """The reason why a test was skipped; the measurements of a test that passed are left out."""
    if str(result["status"]) != "Skip":
        return []
    lines = result.get("info") or []
    return [_word(lines)] if isinstance(lines, str) else [_word(line) for line in lines]


def _word(text: Any) -> str:
    return " ".join(str(text or "").split())


def _serials(document: Document) -> dict[int, str]:
    """Serial numbers by DCGM's number of the GPU; empty text for one without a report of it."""
    groups: Sequence[Document] = list(_each(document.get("entity_groups") or []))
    entities = [entity for group in groups if group["entity_group"] == "GPU" for entity in _each(group["entities"])]
    pairs = [(entity["entity_id"], entity.get("serial_num")) for entity in entities]
    pairs += (document.get("GPU Device Serials") or {}).items()
    return {int(number): "" if "<<<" in str(serial or "<<<") else str(serial) for number, serial in pairs}
