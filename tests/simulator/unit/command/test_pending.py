"""Resources that a killed engine could not record are found in the simulated Azure, and imported."""

import json
from pathlib import Path
from typing import Any

from rehearsal.stack.pending import pending_creates, pending_deletes, settled
from rehearsal.stack.pending_releases import pending_releases

GROUP, POOL = "azure-native:resources:ResourceGroup", "azure-native:containerservice:AgentPool"
AKS = "/subscriptions/s/resourceGroups/group1a2b3c4d/providers/Microsoft.ContainerService/managedClusters/aks"


def creating(name: str, kind: str, **inputs: Any) -> dict[str, Any]:
    return {
        "type": "creating",
        "resource": {"urn": f"urn:pulumi:dev::p::{kind}::{name}", "type": kind, "inputs": inputs},
    }


def holds(folder: Path, **records: str) -> Path:
    """The file of a subscription that holds a resource of a type under each ID. records: ID by a word of its type."""
    kinds = {"group": GROUP, "pool": POOL, "other": POOL}
    file = folder / "state.json"
    held = [{"id": identity, "pulumi_type": kinds[word]} for word, identity in records.items()]
    file.write_text(json.dumps({"resources": held}))
    return file


def known(deployment: dict[str, Any], azure: Path) -> list[tuple[str, str, bool]]:
    """Name, ID and whether it is to be deleted of all resources in the settled state."""
    state = settled(deployment, azure)
    assert not state.get("pending_operations")
    return [
        (resource["urn"].rpartition("::")[2], resource["id"], resource.get("delete", False))
        for resource in state["resources"]
    ]


def test_what_azure_has_is_taken_by_its_type_and_name(tmp_path: Path) -> None:
    azure = holds(tmp_path, group="/subscriptions/s/resourceGroups/Group1a2b3c4d", pool=f"{AKS}/agentPools/a100")
    operations = [
        creating("group", GROUP, resourceGroupName="group1a2b3c4d", tags={"a": "b"}),
        creating("h100", POOL, agentPoolName="h100", resourceName="aks", count=2),
        creating("space", "kubernetes:core/v1:Namespace", metadata={"name": "a100"}),
    ]
    [group] = settled({"pending_operations": operations}, azure)["resources"]
    assert (group["id"], group["type"]) == ("/subscriptions/s/resourceGroups/Group1a2b3c4d", GROUP)
    assert group["initErrors"], "the next command updates it"
    assert group["inputs"]["tags"] == {"a": "b"}


def test_what_the_engine_knows_already_is_not_taken_again(tmp_path: Path) -> None:
    azure = holds(tmp_path, pool=f"{AKS}/agentPools/h100", other=f"{AKS.replace('aks', 'new')}/agentPools/h100")
    old, new = f"{AKS}/agentPools/h100", f"{AKS.replace('aks', 'new')}/agentPools/h100"
    deployment = {
        "resources": [{"urn": f"urn:pulumi:dev::p::{POOL}::h100", "id": old.upper()}],
        "pending_operations": [creating("h100", POOL, agentPoolName="h100"), {"type": "updating", "resource": {}}],
    }
    assert known(deployment, azure) == [("h100", old.upper(), True), ("h100", new, False)], "it was being replaced"


def test_a_stack_without_a_state_has_nothing_pending(tmp_path: Path) -> None:
    assert list(pending_creates({})) == []
    assert settled({}, tmp_path / "state.json") == {"resources": []}


def test_what_was_being_deleted_is_asked_for_again_if_the_state_has_it_still() -> None:
    here, gone = ({"urn": f"urn:pulumi:dev::p::kubernetes:helm.sh/v3:Release::{name}"} for name in ("here", "gone"))
    operations = [
        creating("h100", POOL, agentPoolName="h100"),
        *({"type": "deleting", "resource": resource} for resource in (here, gone)),
    ]
    assert pending_deletes({"resources": [here], "pending_operations": operations}) == [here["urn"]]
    assert list(pending_deletes({})) == []


RELEASE = "kubernetes:helm.sh/v3:Release"


def operation(kind: str, name: str, **inputs: str) -> dict[str, Any]:
    return {"type": kind, "resource": {"type": RELEASE, "inputs": {"name": name, **inputs}}}


def test_helm_forgets_a_release_that_was_being_installed_and_how_far_an_upgrade_had_come() -> None:
    operations = [
        operation("creating", "discovery", namespace="space"),
        operation("updating", "driver"),
        operation("deleting", "old"),
        creating("space", "kubernetes:core/v1:Namespace", metadata={"name": "space"}),
    ]
    under_way = ["pending-install", "pending-upgrade", "pending-rollback"]
    assert list(pending_releases({"pending_operations": operations})) == [
        ("space", {"owner": "helm", "name": "discovery"}),
        ("default", {"owner": "helm", "name": "driver", "status": under_way}),
    ]
    assert list(pending_releases({})) == []
