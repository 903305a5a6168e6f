"""What a tenant leaves on a node costs no machine, and a machine that cannot be measured is counted, not condemned."""

from pathlib import Path
from typing import Final, cast

import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, Pod

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.replace.replacing import BEFORE, CURED_BY_RESTART, Fleet, fleet, steps, tell
from tests.rehearsal.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
TEAM: Final = "team"


@pytest.fixture(scope="module")
def three(rehearse_ours: RehearseOurs) -> Fleet:
    """A pool of three machines: the least in which one is replaced."""
    return fleet(rehearse_ours("hbv4"), machines=3)


def test_a_tenants_failed_pod_that_looks_like_a_driver_costs_no_machine(three: Fleet, evidence: Path) -> None:
    node, client = three.node(0), three.stack.cluster()
    client.create(Namespace(metadata=ObjectMeta(name=TEAM)))
    forged = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "mofed", "namespace": TEAM, "labels": {"nvidia.com/ofed-driver": ""}},
        "spec": {
            "nodeName": node,
            "restartPolicy": "Never",
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "x", "image": "x:1", "command": ["python3", "-c", "raise SystemExit(1)"]}],
        },
    }
    client.create(cast("Pod", Pod.from_dict(forged)))
    eventually(lambda: client.get(Pod, "mofed", namespace=TEAM).to_dict()["status"]["phase"] == "Failed", seconds=120)
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
