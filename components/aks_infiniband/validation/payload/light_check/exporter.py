"""Serves the figures of the last scheduled checks at /metrics, in Prometheus' text format 0.0.4.

The exporter reads the reports, and the record of machines, from the mounts of their ConfigMaps that the kubelet keeps
up to date, and never calls the API server.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ..report.standing import RECORD, RECORD_KEY, Held, held_in, newest_in
from .state import KEY, NodeState, State, is_state

PREFIX = "aks_infiniband_light_check_"
METRICS: Mapping[str, str] = {
    "finished_timestamp_seconds": "When the last run that found an idle node ended.",
    "nodes_expected": "Nodes that the pool should have; of an autoscaled one at least.",
    "nodes_present": "Nodes that it had at the last run, Ready or not.",
    "node_checked_timestamp_seconds": "When the node was last checked.",
    "node_healthy": "1 if the last check of the node found nothing, 0 if a check failed or if the node is cordoned for "
    "what a command measured.",
    "machine_measured_timestamp_seconds": "When the machine was last measured, by which command, with which verdict.",
    "link_up": "1 if the port is Active.",
    "link_rate_bytes_per_second": "Signalling rate of the link.",
    "write_bandwidth_bytes_per_second": "RDMA writes to the next idle node of the pool; absent if none was idle.",
    "errors": "By how much an error counter of the port had grown since the check before.",
}
"""Every metric, a gauge, by its name without the prefix."""
_BYTES_PER_GBIT = 1e9 / 8

Sample = tuple[str, Mapping[str, str], float]
"""Name of a metric, labels, and value."""


def exposition(reports: Iterable[State], record: str | None = None) -> str:
    """The reports in Prometheus' text format, in which the samples of a metric stand together.

    record: of the machines, as a text.
    """
    by_name: dict[str, list[str]] = {name: [] for name in METRICS}
    for report in reports:
        for name, labels, value in _samples(report, record):
            shown = ",".join(f"{label}={json.dumps(text, ensure_ascii=False)}" for label, text in labels.items())
            by_name[name].append(f"{PREFIX}{name}{{{shown}}} {value!r}")
    lines = [
        line
        for name, samples in by_name.items()
        for line in (f"# HELP {PREFIX}{name} {METRICS[name]}", f"# TYPE {PREFIX}{name} gauge", *samples)
    ]
    return "\n".join([*lines, ""])


def _samples(report: State, record: str | None) -> Iterator[Sample]:
    pool = {"pool": report["pool"]}
    yield "finished_timestamp_seconds", pool, report["finished"]
    if members := report.get("members"):  # not in the report of an older release
        yield "nodes_expected", pool, members["expected"]
        yield "nodes_present", pool, members["present"]
    states = {node: state for node, state in sorted(report["nodes"].items()) if is_state(state)}  # it may be edited
    measurements = {node: state["measurement"] for node, state in states.items() if "measurement" in state}
    there = {name: measurements.get(name) for name in {*states, *((members or {}).get("names") or ())}}
    held = held_in(record, there) or {}
    for node, state in states.items():
        yield from _of_node({**pool, "node": node}, state, held.get(node, ()))
    for node in sorted(held.keys() - states.keys()):  # it was never idle when the check ran
        yield "node_healthy", {**pool, "node": node}, 0
    for node, newest in newest_in(record, there).items():
        labels = {**pool, "node": node, "by": newest["by"], "verdict": newest["verdict"]}
        yield "machine_measured_timestamp_seconds", labels, datetime.fromisoformat(newest["at"]).timestamp()


def _of_node(node: Mapping[str, str], state: NodeState, held: Sequence[Held]) -> Iterator[Sample]:
    yield "node_checked_timestamp_seconds", node, state["checked"]
    yield "node_healthy", node, int(state["healthy"] and not held)
    for device, link in state["links"].items():
        port = {**node, "device": device}
        yield "link_up", port, int(link["up"])
        if link["rate_gbps"] is not None:
            yield "link_rate_bytes_per_second", port, link["rate_gbps"] * _BYTES_PER_GBIT
    for device, gbps in state["bandwidth"].items():
        yield "write_bandwidth_bytes_per_second", {**node, "device": device}, gbps * _BYTES_PER_GBIT
    for device, counters in state["errors"].items():
        for counter, value in counters.items():
            yield "errors", {**node, "device": device, "counter": counter}, value


def reports_in(folder: Path) -> Iterator[State]:
    """The reports in the folders of a folder, each a mounted ConfigMap; one that is not there yet is left out."""
    for path in sorted(folder.glob(f"*/{KEY}")):
        with contextlib.suppress(OSError, ValueError, EOFError):
            yield json.loads(gzip.decompress(path.read_bytes()))


def record_in(folder: Path) -> str | None:
    """The text of the record of machines, if it is mounted there; None if there is none yet."""
    with contextlib.suppress(OSError, EOFError):
        return gzip.decompress((folder / RECORD / RECORD_KEY).read_bytes()).decode(errors="replace")
    return None


def server(folder: Path, record: Path, address: tuple[str, int]) -> ThreadingHTTPServer:
    """The server that answers at /metrics for the reports in a folder, and the record in another."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path != "/metrics":
                self.send_error(404)
                return
            text = exposition(reports_in(folder), record_in(record)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return ThreadingHTTPServer(address, Handler)


def main(argv: Sequence[str]) -> None:
    """Serve until the end."""
    parser = argparse.ArgumentParser(prog="exporter", description=__doc__)
    parser.add_argument("--reports", required=True, type=Path)
    parser.add_argument("--record", required=True, type=Path)
    parser.add_argument("--port", required=True, type=int)
    arguments = parser.parse_args(argv)
    server(arguments.reports, arguments.record, ("", arguments.port)).serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
