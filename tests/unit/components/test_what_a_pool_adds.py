"""A stack of many pools: what stands once in a cluster, and what every further pool adds."""

from typing import Any

from declared.pulumi_mocks import Deploy
from tests.unit.components.rdma_programs import program

MOST = 8
"""Resources of a further pool: itself, two ConfigMaps, its validation's Job, report and the parts that are kept of it;
two components.
"""


def declared(deploy: Deploy, pools: int) -> dict[str, Any]:
    named = tuple((f"nd{number}", "Standard_ND96isr_H100_v5") for number in range(pools))
    return {made.urn: made for made in deploy(program(pools=named)).registrations}


def test_a_further_pool_adds_at_most_eight_resources_and_all_of_them_are_its_own(deploy: Deploy) -> None:
    one, three = declared(deploy, 1), declared(deploy, 3)
    added = three.keys() - one.keys()
    assert one.keys() < three.keys(), "what stands once in a cluster keeps its name"
    for pool in ("nd1", "nd2"):
        own = [urn for urn in added if pool in urn.rpartition("::")[2]]
        assert 0 < len(own) <= MOST, own
    assert len(added) <= 2 * MOST
