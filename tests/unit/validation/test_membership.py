"""The expected number of a pool's nodes, and the missing ones: the basis of `validate` and `doctor`."""

import base64
import gzip
import json
from typing import Any

from aks_infiniband.validation.membership import memberships

from tests.unit.command_line.validations import job_of, node

FINISHED = "2026-11-01T10:00:00+00:00"


def report_of(*nodes: str, finished: str = FINISHED) -> dict[str, Any]:
    """The ConfigMap with the report of a pool's validation on these nodes."""
    report = {"pool": "ndh100", "finished": finished, "nodes": {name: {} for name in nodes}}
    data = base64.b64encode(gzip.compress(json.dumps(report).encode())).decode()
    return {"metadata": {"name": "r", "namespace": "system"}, "binaryData": {"report.json.gz": data}}


def told(nodes: str, *config_maps: dict[str, Any]) -> str | None:
    """The words on a pool that should have four nodes."""
    return memberships([job_of()], config_maps, [node(name) for name in nodes])["ndh100"].told()


def test_a_pool_has_as_many_nodes_as_its_deployed_validation_says() -> None:
    found = memberships([job_of()], [], [node(name) for name in "abcd"])["ndh100"]
    assert (found.expected, found.present, found.missing, found.told()) == (4, ["a", "b", "c", "d"], 0, None)


def test_a_node_that_is_gone_is_named_where_the_last_report_knew_it() -> None:
    older = report_of(*"wxyz", finished="2026-10-01T10:00:00+00:00")
    said = "1 of 4 nodes missing: d was there when the pool was validated on 2026-11-01T10:00:00+00:00"
    assert told("abc", report_of(*"abcd"), older) == said
    assert told("ab", report_of(*"abcd")) == said.replace("1 of 4", "2 of 4").replace("d was", "c, d were")
    assert told("abc") == "1 of 4 nodes missing; no report says which"
    assert told("", report_of(*"ab")) == "4 of 4 nodes missing" + said.removeprefix("1 of 4 nodes missing").replace(
        "d was", "a, b were"
    )


def test_a_machine_that_was_replaced_and_one_that_was_added_are_not_missing() -> None:
    assert told("abce", report_of(*"abcd")) is None
    assert told("abcdef", report_of(*"abcd")) is None, "an autoscaled pool has its smallest number at least"


def test_nodes_of_others_and_objects_that_are_no_validation_of_a_stack_count_for_nothing() -> None:
    other: Any = node("x")
    other["metadata"]["labels"]["agentpool"] = "web"
    run: Any = job_of()
    run["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "aks-infiniband-validate"
    strange: Any = {"metadata": {"name": "kube-root-ca.crt"}, "data": {"report.json": "{}"}}
    assert memberships([job_of()], [strange], [node("a"), other])["ndh100"].present == ["a"]
    assert memberships([run], [], [node("a")]) == {}
