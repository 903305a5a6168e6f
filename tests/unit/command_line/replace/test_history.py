"""The history of replaced machines, which several commands write at once."""

from typing import Any, cast

from aks_infiniband_cli.bad_machines.replace.case import Case
from aks_infiniband_cli.bad_machines.replace.history import History
from lightkube import ApiError, Client
from lightkube.models.meta_v1 import Status
from lightkube.resources.core_v1 import ConfigMap


class Cluster:
    """Keeps one ConfigMap as an API server does: who writes on an older version gets a conflict."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}
        self.events: list[str] = []

    def get(self, *_: Any, **__: Any) -> ConfigMap:
        if not self.kept:
            raise refused(404)
        return cast("ConfigMap", ConfigMap.from_dict(self.kept))

    def create(self, found: Any) -> None:
        if found.kind == "Event":
            self.events.append(found.reason)
        else:
            self._keep(found)

    def replace(self, found: Any) -> None:
        if found.metadata.resourceVersion != self.kept["metadata"]["resourceVersion"]:
            raise refused(409)
        self._keep(found)

    def _keep(self, found: Any) -> None:
        version = int((self.kept.get("metadata") or {}).get("resourceVersion", 0)) + 1
        self.kept = found.to_dict()
        self.kept["metadata"]["resourceVersion"] = str(version)


def refused(code: int) -> ApiError:
    return ApiError(status=Status(code=code, message="no"))


def test_whoever_works_on_a_case_keeps_the_line_of_who_has_stopped_it() -> None:
    client = cast("Client", Cluster())
    working, stopping = History(client, "ns"), History(client, "ns")
    case = Case(id="i", node="a", pool="hb", resource="/x", agent_pool="hb", begun="t", why="w")
    working.take_over(case)
    working.write(case, "Quarantined", "w")
    assert [each.node for each in stopping.stop()] == ["a"]
    working.write(case, "Emptied", "nobody uses it")
    (kept,) = stopping.cases()
    assert [line.step for line in kept.lines] == ["Quarantined", "Stopped", "Emptied"]
    assert (kept.stopped, case.stopped) == (True, True)
