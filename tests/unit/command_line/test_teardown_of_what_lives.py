"""`aks-infiniband teardown` on a stack that was not destroyed: it says so, and does not call it left over."""

import json
from typing import Any

import pytest
from aks_infiniband.resources.metadata import PART_OF
from aks_infiniband_cli.azure.answers import Group
from aks_infiniband_cli.main import main
from aks_infiniband_cli.teardown.left import cluster_in, stack_in

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT, SUBSCRIPTION

ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/aks-infiniband-dev/providers/"
    "Microsoft.ContainerService/managedClusters/aks-infiniband-dev"
)
SYSTEM: Any = {"metadata": {"name": "aks-infiniband-system"}}
POLICY: Any = {"kind": "NicClusterPolicy", "metadata": {"name": "nic-cluster-policy", "labels": PART_OF}}
ENDING = {"deletionTimestamp": "2026-11-22T10:00:00Z"}


def test_a_stack_whose_cluster_is_there_lives_and_the_command_that_ends_it_is_named(
    endpoint: str, arm: Arm, capsys: pytest.CaptureFixture[str]
) -> None:
    arm.groups = {"aks-infiniband-dev": [ID]}
    flags = ["teardown", "--endpoint", endpoint, "-s", "dev", "--folder", str(ROOT)]
    assert main(flags) == 1
    said = capsys.readouterr().out
    assert said.startswith("Stack dev lives: cluster aks-infiniband-dev in resource group aks-infiniband-dev is there")
    assert "pulumi destroy --stack dev" in said
    assert "az " not in said
    assert main([*flags, "--output", "json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["lives"] == "cluster aks-infiniband-dev in resource group aks-infiniband-dev"
    assert len(document["left"]) == 2, "for whoever has lost the state"


def test_a_cluster_is_known_by_its_resource_id_in_whatever_letters() -> None:
    assert cluster_in([Group(name="g", managed_by="", resources=(ID.lower(),))], ID) is not None
    assert cluster_in([Group(name="g", managed_by="", resources=(f"{ID}2",))], ID) is None


@pytest.mark.parametrize(
    ("namespaces", "customs", "lives"),
    [
        ([SYSTEM], [POLICY], True),
        ([], [POLICY], False),
        ([SYSTEM], [], False),
        ([{"metadata": {**SYSTEM["metadata"], **ENDING}}], [POLICY], False),
        ([SYSTEM], [{**POLICY, "metadata": {**POLICY["metadata"], **ENDING}}], False),
        ([SYSTEM], [{**POLICY, "metadata": {"name": "somebody-elses"}}], False),
    ],
)
def test_in_somebody_elses_cluster_policy_and_namespace_together_say_that_the_stack_lives(
    namespaces: list[Any], customs: list[Any], lives: bool
) -> None:
    assert (stack_in(namespaces, customs) is not None) is lives
