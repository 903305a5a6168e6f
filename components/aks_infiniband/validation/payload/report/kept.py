"""The ways in which a report is kept: in a ConfigMap, in the stack, and with a proof that the pods have made it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ..talk.config_maps import compressed, decompressed, object_in, texts_of
from .document import Report

REPORT_KEY = "report.json.gz"
"""Key of the report in its ConfigMap."""
PLAIN_REPORT_KEY = "report.json"
"""Key of the report that versions up to 0.2 left, which did not compress it."""
EVIDENCE = "report sha256:"
"""The beginning of the first line of the termination message of the pod that has left the report."""


def evidence_of(report: Mapping[str, object]) -> str:
    """The line that proves a report: a user who may patch the ConfigMap cannot change what the kubelet says of
    a pod.
    """
    return EVIDENCE + hashlib.sha256(json.dumps(report, sort_keys=True).encode()).hexdigest()


def report_in(config_map: Mapping[str, Any]) -> Report | None:
    """The report that a validation has left in a ConfigMap; None if there is none that can be read."""
    texts = texts_of(config_map)
    report: Report | None = object_in(texts.get(REPORT_KEY) or texts.get(PLAIN_REPORT_KEY))
    return report


def packed_report(report: Report | None) -> str:
    """A report as the stack keeps it; an empty text if it is absent.

    Small parts first: gzip finds what was there before within 32 KiB.
    """
    parts = sorted((report or {}).items(), key=lambda part: len(json.dumps(part[1])))
    return compressed(json.dumps(dict(parts), separators=(",", ":"))) if report else ""


def kept_report(kept: str | None) -> Report | None:
    """The report that the stack has kept; None without one."""
    report: Report | None = object_in(decompressed(kept) if kept else None)
    return report
