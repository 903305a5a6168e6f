"""One program, two stacks that are up at the same time, and in each a cluster in two regions."""

from pathlib import Path

import pytest
from lightkube.resources.core_v1 import Node

from rehearsal.testing.plugin import Rehearse
from rehearsal.testing.stack import RehearsedStack

pytestmark = pytest.mark.long  # four API servers

PROGRAM = Path(__file__).with_name("program")
CLUSTER = "azure-native:containerservice:ManagedCluster"
CLUSTERS = {"westeurope": "fleet-westeurope", "southcentralus": "fleet-southcentralus"}


def nodes(stack: RehearsedStack, cluster: str) -> dict[str, str]:
    """The region of each node, by the node's name."""
    found = {}
    for node in stack.cluster(cluster).list(Node):
        about = node.to_dict()["metadata"]
        found[about["name"]] = about["labels"]["topology.kubernetes.io/region"]
    return found


def test_stacks_clusters_and_regions_of_one_program_stand_beside_each_other(rehearse: Rehearse) -> None:
    prod, stage = (rehearse(PROGRAM, name, clusters=2) for name in ("prod", "stage"))
    for stack in (prod, stage):
        up = stack.up()
        assert up.succeeded, up.said
        assert stack.outputs()["clusters"] == CLUSTERS
        assert {each["outputs"]["location"] for each in stack.azure(CLUSTER)} == set(CLUSTERS)
    for stack, number in ((prod, 2), (stage, 1)):
        for region, cluster in CLUSTERS.items():
            found = nodes(stack, cluster)
            assert list(found.values()) == [region] * number, "a cluster has its own machines, in its own region"
    destroyed = stage.destroy()
    assert destroyed.succeeded, destroyed.said
    assert (len(prod.azure(CLUSTER)), stage.azure()) == (2, []), "a stack's data centre is its own"
    assert len(nodes(prod, CLUSTERS["westeurope"])) == 2
