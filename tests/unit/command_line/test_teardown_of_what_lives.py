"""`aks-infiniband teardown` on a stack that was not destroyed: it says so, and does not call it left over."""

import json

import pytest
from aks_infiniband_cli.main import main

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT, SUBSCRIPTION

ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/aks-infiniband-dev/providers/"
    "Microsoft.ContainerService/managedClusters/aks-infiniband-dev"
)


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
