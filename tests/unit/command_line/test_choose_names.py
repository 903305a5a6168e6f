"""The stack files of `aks-infiniband init` have names that Azure and Kubernetes take, whatever the name of the
stack.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband import SIZES
from aks_infiniband.facts.azure_names import REGIONS, pool_name_of
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband_cli.main import main
from aks_infiniband_cli.stack_file import configuration_of, stack_of

from declared import program
from rehearsal.azure.machines import node
from rehearsal.azure.resources import KINDS
from tests.simulator.unit.azure.test_machines import POOL, facts

ROOT = Path(__file__).parents[3]
LONGEST_REGION = max(REGIONS, key=len)
NAMES = (
    *("infiniband", "a", "nine-long", "twenty-characters-ab", "a" * 100),
    *("my.stack", "team_a", "ends-", "_begins", ".x", "a." * 50, "-".join("abcdefghijklmnopqrstuvwxyz0123456789")),
)
"""The default, of 1, 9, 20 and 100 characters, which are the most that Pulumi takes, and with all that it takes."""
LABEL = r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?"
OBJECT = r"(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*"


def init(project: Path, stack: str, *flags: str) -> Path:
    """The stack file that the command writes."""
    words = flags or ("--workload", "mpi")
    assert main(["init", *words, "--with-infiniband", "--stack", stack, "--folder", str(project)]) == 0
    return project / f"Pulumi.{stack}.yaml"


@pytest.mark.parametrize("stack", NAMES)
def test_the_file_is_right_and_its_cluster_has_a_name_that_azure_takes_in_every_region(
    stack: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    for region in sorted(REGIONS, key=len)[:: len(REGIONS) - 1]:  # the shortest and the longest: nothing else matters
        file = init(project, stack, "--workload", "mpi", "--region", region)
        made = stack_of(file, configuration_of(file)).cluster
        assert isinstance(made, AzureClusterArgs)
        name, group = made.cluster.cluster_name, made.cluster.resource_group_name
        assert not KINDS["azure-native:containerservice:ManagedCluster"].name_rule.failures("name", name)
        assert len(f"MC_{group}_{name}_{region}") <= 80
        file.unlink()


def test_two_long_names_make_two_clusters(project: Path) -> None:
    files = [init(project, "a" * 90 + end) for end in ("one", "two")]
    first, second = (configuration_of(file)["aks-infiniband:cluster"]["name"] for file in files)
    assert first != second


def test_a_name_that_fits_is_left_to_the_program(project: Path) -> None:
    assert "name" not in configuration_of(init(project, "infiniband"))["aks-infiniband:cluster"]


@pytest.mark.parametrize(
    "flags",
    [
        "--workload training",
        "--workload mpi",
        "--workload mpi --workload tcp-ip",
        "--workload training --gpu-driver aks",
        "--workload training --cluster existing",
    ],
)
def test_every_name_and_label_that_the_program_asks_for_is_one_that_azure_and_kubernetes_take(
    flags: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = "a." * 50
    region = [] if "existing" in flags else ["--region", LONGEST_REGION]
    init(project, stack, *flags.split(), *region)
    asked = list(program.run(project, stack).resources.values())
    assert len(asked) > 20
    for resource in asked:
        inputs = resource.get("object") or {}
        if (kind := KINDS.get(resource["type"])) and (name := inputs.get(kind.name_parameter)):
            assert kind.name_rule.failures(kind.name_parameter, name) == []
        if resource["type"].startswith("kubernetes:") and "metadata" in inputs:
            assert wrong(inputs["metadata"]) == []


def wrong(metadata: Any) -> list[str]:
    """Kubernetes' refusals of an object's name and labels."""
    labels = [*(metadata.get("labels") or {}).values(), metadata.get("namespace") or ""]
    found = [value for value in labels if not re.fullmatch(LABEL, value)]
    name = metadata.get("name")
    return found if re.fullmatch(OBJECT, name) else [name, *found]


@pytest.mark.parametrize("name", ["a", "nine-long", "twenty-characters-ab", "x" * 30])
@pytest.mark.parametrize("region", REGIONS)
def test_every_label_of_a_node_is_one_that_kubernetes_takes(name: str, region: str) -> None:
    group = f"MC_{name}_{name}_{region}"[:80]
    for size in SIZES.values():
        pool = {**POOL, "name": pool_name_of(size.series)}
        made = node(facts(pool=pool, size=size, size_name=size.name, node_group=group, location=region), 35, 0)
        assert wrong(made["metadata"]) == []


def test_pools_are_named_after_their_family_as_the_examples_have_it(project: Path) -> None:
    assert pool_name_of(SIZES["Standard_ND96isr_H100_v5"].series) == "ndh100"
    assert pool_name_of(SIZES["Standard_HB176rs_v4"].series) == "hbv4"
    assert pool_name_of(SIZES["Standard_ND96amsr_A100_v4"].series) == "ndma100"


def test_the_rehearsals_subscription_has_every_region_of_the_table_and_room_for_the_largest_pool() -> None:
    subscription = yaml.safe_load((ROOT / "rehearsal" / "azure" / "subscription.yaml").read_text())
    assert {region: tuple(zones) for region, zones in subscription["regions"].items()} == REGIONS
    for size in SIZES.values():
        quota = subscription["series"][size.series]["vcpus"]
        assert 100 * size.quota_vcpus <= quota <= subscription["regionalVcpus"], size.series
