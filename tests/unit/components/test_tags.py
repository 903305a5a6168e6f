"""Tags in the stack file reach every Azure resource that takes any, within Azure's limits."""

from declared.pulumi_mocks import Deploy
from rehearsal.azure.resources import KINDS
from tests.unit.components.rdma_programs import CLUSTER, program
from tests.unit.components.stack_files import cluster, loaded

TAGS = {"costcenter": "4711", "Team": "training"}
WORKSPACE = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/monitoring/providers/Microsoft.Monitor"
    "/accounts/prometheus"
)
ALERTS = {"prometheus": "azure", "workspaceId": WORKSPACE}


def test_every_resource_that_takes_tags_has_them(deploy: Deploy) -> None:
    made = deploy(program(cluster=cluster(tags=TAGS), observability=ALERTS)).registrations
    kinds = {resource.type: KINDS[resource.type] for resource in made if resource.type.startswith("azure-native:")}
    tagged = {type_ for type_, kind in kinds.items() if hasattr(kind.arguments, "tags")}
    assert {type_.rpartition(":")[2] for type_ in set(kinds) - tagged} == {"RoleAssignment", "Subnet"}
    for resource in made:
        if resource.type in tagged:
            assert resource.inputs["tags"] == TAGS, resource.urn
    (system,) = next(found for found in made if found.type == CLUSTER).inputs["agentPoolProfiles"]
    assert system["tags"] == TAGS


def test_the_most_that_azure_takes_is_taken() -> None:
    tags = {f"{number:02}".ljust(512, "x"): "v" * 256 for number in range(50)}
    assert loaded(cluster=cluster(tags=tags))


def test_other_tags_of_the_system_pool_are_warned_of(deploy: Deploy, warnings: list[str]) -> None:
    profile = {"name": "system", "vmSize": "Standard_D8s_v5", "count": 2, "tags": {"costcenter": "1"}}
    deploy(program(cluster=cluster(tags=TAGS)), outputs={CLUSTER: {"agentPoolProfiles": [profile]}})
    (said,) = [text for text in warnings if "system pool" in text]
    assert "tags are {'costcenter': '4711', 'Team': 'training'}, and in Azure {'costcenter': '1'}" in said
    assert "az aks nodepool update --tags" in said
