"""The files of `adopt`, and what must fit together; what it describes is in cases/adopt.yaml."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.azure import read_back
from aks_infiniband.stack.load import load
from aks_infiniband_cli.adopt.describing import why_not_taken_over
from aks_infiniband_cli.adopt.files import import_text, stack_text
from aks_infiniband_cli.adopt.found import pools_in, require_nodes_in
from aks_infiniband_cli.console import CommandError

from tests.unit.command_line.cases.adopting import BY_HAND, SUBSCRIPTION, description, node
from tests.unit.components.pools_in_azure import in_azure, infiniband

TAKEN = description({"nic_policy": {}, "gpu_policy": {"driver": {"rdma": {"enabled": True}}}, "taken_over": {}})


@pytest.mark.parametrize(
    ("shown", "why"),
    [({"mode": "System"}, "it is a system pool"), ({"provisioningState": "Failed"}, "it is Failed in Azure")],
)
def test_system_pools_and_pools_that_are_not_well_stay_with_others(shown: Any, why: str) -> None:
    found = why_not_taken_over(in_azure(infiniband(), **shown))
    assert found is not None
    assert found.startswith(why)
    assert why_not_taken_over(in_azure(infiniband())) is None


def test_a_kubeconfig_of_another_cluster_than_azures_is_refused() -> None:
    pools, _ = pools_in([node(0)])
    require_nodes_in("MC_g", SUBSCRIPTION, "guide", pools)
    with pytest.raises(CommandError, match=r"n0 is not a machine of cluster other\. .* must name the same cluster"):
        require_nodes_in("MC_other", SUBSCRIPTION, "other", pools)


def test_the_files_are_read_by_the_program_and_by_pulumi(tmp_path: Path) -> None:
    written = yaml.safe_load(stack_text(TAKEN.configuration, cluster="guide"))["config"]
    assert load(written).adopted is not None
    resources = json.loads(import_text(TAKEN.taken))["resources"]
    kinds = [resource["type"].rpartition(":")[2] for resource in resources]
    assert kinds == ["RdmaCluster", "AdoptedPools", "InfinibandNodePool", "AgentPool"]
    assert [resource.get("parent") for resource in resources] == [None, "cluster", "pools", "component of ndh100"]
    assert resources[-1]["id"] == BY_HAND["id"]
    assert resources[-1]["logicalName"] == "rdma-ndh100"


def test_what_is_written_asks_azure_for_what_is_there() -> None:
    assert TAKEN.stack is not None
    assert TAKEN.stack.adopted is not None
    wanted = read_back.asked(TAKEN.stack.adopted.arguments_of("ndh100"))
    (different,) = read_back.differences(in_azure(infiniband(), **BY_HAND), wanted)
    assert different.name == "upgradeSettings"
