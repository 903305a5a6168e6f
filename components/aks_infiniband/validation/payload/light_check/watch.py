"""Begins the light check when something happened to a node, and keeps pods off a node that is not measured yet.

A look every quarter of a minute is enough, because a node that joins offers nothing to pods before its drivers
and device plugins are there. Its notes lie in a ConfigMap, so another pod of the same Deployment continues.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TypedDict

from ..report.standing import RECORD, RECORD_KEY, known_in
from ..talk.api import Api, ApiError, Object, add_api_arguments, api_of
from ..talk.config_maps import object_in
from .due import ANNOUNCED, PACE_SECONDS, Known, Look, Pool, Signs, Told, judge, true_of
from .leaving import Leaving
from .state import EVENTS_OF_NODES, KEY, WATCH_SOURCE, NodeState, states_in, timestamp

STATE_KEY = "watch.json.gz"
_STATE_VERSION = 1
_NOT_FOUND, _CONFLICT = 404, 409
_NOTE_BYTES = 1024


class Settings(TypedDict):
    """The watch as a stack sets it. problems, maintenance: types of conditions, as Signs has them. spared: namespaces
    whose pods are not evicted.
    """

    namespace: str
    state: str
    taint: str
    problems: list[str]
    maintenance: list[str]
    spared: list[str]
    pools: list[Pool]


class Noted(TypedDict):
    """One pool in the watch's ConfigMap. begun: when a run was last begun, in seconds since 1970."""

    begun: float
    nodes: dict[str, Known]


class Watch:
    """One watch of all pools."""

    def __init__(self, api: Api, settings: Settings) -> None:
        self.api, self.settings = api, settings
        self._leaving = Leaving(api, settings["spared"])

    def once(self, now: float) -> None:
        """Look at every pool, and do what follows. Raises ApiError."""
        noted = notes_in(self._texts(self.settings["state"]).get(STATE_KEY))
        after: dict[str, Noted] = {}
        for pool in self.settings["pools"]:
            after[pool["name"]] = self._pool(pool, noted.get(pool["name"]), now)
        if after != noted:
            text = json.dumps({"schema_version": _STATE_VERSION, "pools": after})
            self.api.merge_config_map_data(self.settings["namespace"], self.settings["state"], {STATE_KEY: text})

    def _pool(self, pool: Pool, before: Noted | None, now: float) -> Noted:
        nodes = self.api.nodes(pool["selector"])
        measured = self._measured(pool, nodes) if before and _is_due(before, nodes, self.settings) else ({}, {})
        seen = judge(
            pool,
            nodes,
            before["nodes"] if before else None,
            measured,
            Signs(self.settings["problems"], self.settings["maintenance"]),
            taint=self.settings["taint"],
            now=now,
        )
        self._taints(nodes, seen)
        for event in seen.told:
            self._tell(event, nodes, now)
        self._maintain(pool, nodes, seen, now)
        begun = before["begun"] if before else 0.0
        return {"begun": self._runs(pool, seen, begun, now), "nodes": seen.known}

    def _measured(
        self, pool: Pool, nodes: Sequence[Object]
    ) -> tuple[Mapping[str, NodeState], Mapping[str, Sequence[Object]]]:
        """The light check's findings, and all measurements of the nodes."""
        states, _ = states_in(self._texts(pool["report"]).get(KEY))
        own = {node["metadata"]["name"]: None for node in nodes}
        checked = {**own, **{node: state.get("measurement") for node, state in states.items() if node in own}}
        known = known_in(self._texts(RECORD).get(RECORD_KEY), checked) or known_in(None, checked) or {}
        return states, {node: machine["measurements"] for node, machine in known.items()}

    def _texts(self, config_map: str) -> Mapping[str, str]:
        try:
            return self.api.config_map_data(self.settings["namespace"], config_map)
        except ApiError as error:
            if error.status != _NOT_FOUND:
                raise
            return {}

    def _taints(self, nodes: Sequence[Object], seen: Look) -> None:
        """Set the taint on nodes that are to be kept, and take it from those that are not."""
        key = self.settings["taint"]
        for node in nodes:
            name, taints = node["metadata"]["name"], node.get("spec", {}).get("taints") or []
            others = [taint for taint in taints if taint.get("key") != key]
            one, has = seen.known[name], len(others) < len(taints)
            if one["gated"] and not has:
                wanted = [*others, {"key": key, "effect": "NoSchedule"}]
            elif name in seen.lift:
                wanted = others
            else:
                continue
            try:
                self.api.set_taints(node, wanted)
            except ApiError as error:
                if error.status not in (_NOT_FOUND, _CONFLICT):  # gone, or changed meanwhile: the next look sees it
                    raise

    def _maintain(self, pool: Pool, nodes: Sequence[Object], seen: Look, now: float) -> None:
        """Have pods leave the nodes with announced maintenance, if the taint keeps them from coming back. The next look
        tries again after an error.
        """
        for node in nodes:
            name = node["metadata"]["name"]
            one = seen.known[name]
            if one["due"] == ANNOUNCED and one["gated"] and one["tainted"]:
                try:
                    said = true_of(node, self.settings["maintenance"])
                    self._leaving.heed(name, said, pool["maintenance"], now)
                except ApiError as error:
                    print(f"{name}: {error}", flush=True)

    def _runs(self, pool: Pool, seen: Look, begun: float, now: float) -> float:
        """Have a run begin if one is due and none is under way; the CronJob for it is suspended otherwise."""
        namespace, (scheduled, now_job) = self.settings["namespace"], pool["runs"]
        if not seen.run and not begun:
            return 0.0
        jobs = [self.api.cron_job(namespace, name) for name in (scheduled, now_job)]
        runs = any((job.get("status") or {}).get("active") for job in jobs)
        waits = seen.run and not runs and now - begun >= PACE_SECONDS
        suspended = bool(jobs[1]["spec"].get("suspend"))
        if waits and suspended:
            print(f"pool {pool['name']}: a light check begins", flush=True)
            self.api.suspend_cron_job(namespace, now_job, suspended=False)
            return now
        if not suspended and (runs or not seen.run):
            self.api.suspend_cron_job(namespace, now_job, suspended=True)
        over = suspended and not runs and not seen.run
        return 0.0 if over else begun

    def _tell(self, event: Told, nodes: Sequence[Object], now: float) -> None:
        print(f"{event.node}: {event.message}", flush=True)
        (metadata,) = [node["metadata"] for node in nodes if node["metadata"]["name"] == event.node]
        moment = timestamp(now)
        about = {"apiVersion": "v1", "kind": "Node", "name": event.node, "uid": metadata["uid"]}
        self.api.create_event(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"generateName": f"{event.node}.", "namespace": EVENTS_OF_NODES},
                "involvedObject": about,
                "type": "Warning" if event.warns else "Normal",
                "reason": event.reason,
                "message": event.message.encode()[:_NOTE_BYTES].decode(errors="ignore"),
                "source": {"component": WATCH_SOURCE},
                "firstTimestamp": moment,
                "lastTimestamp": moment,
                "count": 1,
            }
        )


def _is_due(before: Noted, nodes: Sequence[Object], settings: Settings) -> bool:
    """True if the measurements have to be read: a node has to be measured, or may have to."""
    known = before["nodes"]
    for node in nodes:
        one = known.get(node["metadata"]["name"])
        info = (node.get("status") or {}).get("nodeInfo") or {}
        if one is None or one["due"] or one["boot"] != info.get("bootID", one["boot"]):
            return True
        conditions = (node.get("status") or {}).get("conditions") or []
        if any(each.get("type") in settings["problems"] and each.get("status") == "True" for each in conditions):
            return True
    return False


def notes_in(text: str | None) -> dict[str, Noted]:
    """The watch's notes by pool; none of a pool whose notes are not in their form."""
    document = object_in(text) or {}
    pools = document.get("pools") if document.get("schema_version") == _STATE_VERSION else None
    return {name: noted for name, noted in pools.items() if _is_noted(noted)} if isinstance(pools, dict) else {}


def _is_noted(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("nodes"), dict):
        return False
    form = {"vm": str, "boot": str, "due": str, "since": (int, float), "usable": (int, float), "gated": bool}
    form |= {"tainted": bool, "told": bool}
    return isinstance(value.get("begun"), (int, float)) and all(
        isinstance(one, dict) and all(isinstance(one.get(key), kind) for key, kind in form.items())  # type: ignore[arg-type]
        for one in value["nodes"].values()
    )


def main(argv: Sequence[str]) -> int:
    """Watch until the end."""
    parser = argparse.ArgumentParser(prog="watch", description=__doc__)
    parser.add_argument("--settings", required=True, help="as JSON")
    parser.add_argument("--every-seconds", required=True, type=float)
    add_api_arguments(parser)
    arguments = parser.parse_args(argv)
    watch = Watch(api_of(arguments, os.environ), json.loads(arguments.settings))
    while True:
        try:
            watch.once(time.time())
        except ApiError as error:
            print(error, flush=True)
        time.sleep(arguments.every_seconds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
