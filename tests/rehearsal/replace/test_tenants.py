"""A tenant's leftovers on a node cost no machine, and a machine that cannot be measured is counted, not condemned."""

from pathlib import Path
from typing import Any

import pytest
from lightkube import Client
from lightkube.resources.core_v1 import Event, Pod

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.replace.replacing import BEFORE, CURED_BY_RESTART, UNBOUNDED, Fleet, fleet, steps, tell
from tests.rehearsal.tenant import OFED, TEAM, create, pod, repair, template, tenant
from tests.rehearsal.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def three(rehearse_ours: RehearseOurs) -> Fleet:
    """A pool of three machines: the least in which one is replaced."""
    return fleet(rehearse_ours("hbv4"), machines=3)


@pytest.fixture(scope="module")
def theirs(three: Fleet) -> Client:
    """The login of a tenant, with `edit` in its namespace and in `default`."""
    return tenant(three.stack, "default")


def test_a_tenants_failed_pod_that_looks_like_a_driver_costs_no_machine(
    three: Fleet, theirs: Client, evidence: Path
) -> None:
    node, client = three.node(0), three.stack.cluster()
    spec = pod("raise SystemExit(1)", nodeName=node, restartPolicy="Never")
    create(theirs, "Job", "mofed", spec={"backoffLimit": 0, "template": template(OFED, spec)})

    def has_failed() -> bool:
        found = [each.to_dict() for each in client.list(Pod, namespace=TEAM, labels=dict[str, Any](OFED))]
        return [(each["spec"]["nodeName"], each["status"]["phase"]) for each in found] == [(node, "Failed")]

    eventually(has_failed, seconds=120)
    code, case = three.replaced(evidence, node, "--limit-minutes", "2")
    tell("sound, with a tenant's pod that looks like a driver", case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_RESTART)
    assert node in three.names()
    assert three.is_whole()


def test_a_tenants_word_of_a_repair_has_no_machine_restarted_or_given_up(
    three: Fleet, theirs: Client, evidence: Path
) -> None:
    node, client = three.node(0), three.stack.cluster()
    repair(theirs, node, "default")
    before = {found["metadata"]["name"]: found["status"]["nodeInfo"]["bootID"] for found in three.stack.nodes()}
    done = three.command(node, *UNBOUNDED, "--limit-minutes", "1", "--evidence", str(evidence))
    out, said = done.communicate(timeout=600)
    after = {found["metadata"]["name"]: found["status"]["nodeInfo"]["bootID"] for found in three.stack.nodes()}
    assert after == before
    assert "repair" in out + said
    client.delete(Event, f"repair-{node}", namespace="default")
    assert three.is_whole()


def test_a_machine_without_its_hca_is_bad_by_its_own_count(three: Fleet, evidence: Path) -> None:
    node = three.node(1)
    three.stack.fault("missing", node=node)
    code, case = three.replaced(evidence, node, "--limit-minutes", "1", "--farthest", "restart")
    tell("HCA missing, counted", case)
    assert (code, case["outcome"], steps(case)) == (1, "still bad", [*BEFORE, "Bad", "Ended"])
    assert "the machine itself has 0 of 1 HCAs" in case["lines"][-2]["what"]
