"""What a tenant leaves on a node costs no machine, and a machine that cannot be measured is counted, not condemned."""

from pathlib import Path
from typing import Any, Final, cast

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Namespace, Pod

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.replace.replacing import BEFORE, CURED_BY_RESTART, Fleet, fleet, steps, tell
from tests.rehearsal.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
TEAM: Final = "team"
FORGED: Final[dict[str, Any]] = {"nvidia.com/ofed-driver": ""}


@pytest.fixture(scope="module")
def three(rehearse_ours: RehearseOurs) -> Fleet:
    """A pool of three machines: the least in which one is replaced."""
    return fleet(rehearse_ours("hbv4"), machines=3)


def test_a_tenants_failed_pod_that_looks_like_a_driver_costs_no_machine(three: Fleet, evidence: Path) -> None:
    node, client = three.node(0), three.stack.cluster()
    client.create(Namespace(metadata=ObjectMeta(name=TEAM)))
    pod = {
        "nodeName": node,
        "restartPolicy": "Never",
        "tolerations": [{"operator": "Exists"}],
        "containers": [{"name": "x", "image": "x:1", "command": ["python3", "-c", "raise SystemExit(1)"]}],
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "mofed", "namespace": TEAM},
        "spec": {"backoffLimit": 0, "template": {"metadata": {"labels": FORGED}, "spec": pod}},
    }
    client.create(cast("Job", Job.from_dict(job)))

    def has_failed() -> bool:
        found = [each.to_dict() for each in client.list(Pod, namespace=TEAM, labels=dict(FORGED))]
        return [(each["spec"]["nodeName"], each["status"]["phase"]) for each in found] == [(node, "Failed")]

    eventually(has_failed, seconds=120)
    code, case = three.replaced(evidence, node, "--limit-minutes", "2")
    tell("sound, with a tenant's pod that looks like a driver", case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_RESTART)
    assert node in three.names()
    assert three.is_whole()


def test_a_machine_without_its_hca_is_bad_by_its_own_count(three: Fleet, evidence: Path) -> None:
    node = three.node(1)
    three.stack.fault("missing", node=node)
    code, case = three.replaced(evidence, node, "--limit-minutes", "1", "--farthest", "restart")
    tell("HCA missing, counted", case)
    assert (code, case["outcome"], steps(case)) == (1, "still bad", [*BEFORE, "Bad", "Ended"])
    assert "the machine itself has 0 of 1 HCAs" in case["lines"][-2]["what"]
