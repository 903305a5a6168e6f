"""`aks-infiniband teardown`: what a destroyed stack has left is named with the command that removes it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import yaml
from aks_infiniband.azure.identity import assignment_name
from aks_infiniband.diagnosis.holds import CORDONED_BY_VALIDATE as CORDONED
from aks_infiniband.resources.metadata import PART_OF
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband_cli.machine_by_machine.rollout.hold import MARK as HELD
from aks_infiniband_cli.main import main
from aks_infiniband_cli.stack_file import configuration_of, stack_of
from aks_infiniband_cli.teardown import leftovers
from aks_infiniband_cli.teardown.cluster import GPU_OPERATOR, left_in
from azure.core.exceptions import ClientAuthenticationError

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import HUB, ROOT, SUBSCRIPTION, Credential
from tests.unit.command_line.loopback import serving

SUBNET = f"{HUB}/subnets/nodes"
ROLE = (
    f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/"
    "4d97b98b-1d4f-4787-a291-c67834d212e7"
)


@pytest.fixture
def flags(endpoint: str) -> list[str]:
    return ["teardown", "--endpoint", endpoint, "--output", "json"]


def left(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    return {orphan["what"]: orphan["remedy"] for orphan in json.loads(capsys.readouterr().out)["left"]}


def test_where_nothing_is_left_it_says_so(flags: list[str], arm: Arm, capsys: pytest.CaptureFixture[str]) -> None:
    arm.groups = {"somebody-elses": [f"/subscriptions/{SUBSCRIPTION}/resourceGroups/somebody-elses/providers/A/b/c"]}
    assert main([*flags, "-s", "dev", "--folder", str(ROOT)]) == 0
    assert left(capsys) == {}
    assert main([*flags, "-s", "dev", "--folder", str(ROOT), "--output", "text"]) == 0
    assert capsys.readouterr().out == f"Nothing of stack dev is left in subscription {SUBSCRIPTION}.\n"


def test_without_a_login_it_says_how_to_log_in(
    flags: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(leftovers, "login", lambda: Credential(ClientAuthenticationError("no token")))
    assert main([*flags, "-s", "dev", "--folder", str(ROOT)]) == 2
    assert capsys.readouterr().err.endswith(
        "cannot be read: no token: az login, or the environment variables of a service principal; then again\n"
    )


def test_machines_disks_interfaces_and_alerts_of_the_stack_are_named_each_with_its_command(
    flags: list[str], arm: Arm, capsys: pytest.CaptureFixture[str]
) -> None:
    group = "MC_aks-infiniband-dev_aks-infiniband-dev_southcentralus"
    machines = "Microsoft.Compute/virtualMachineScaleSets/ib"
    scale_set = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{machines}"
    alerts = "Microsoft.AlertsManagement/prometheusRuleGroups/aks-infiniband-hcas-aks-infiniband-dev"
    rules = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/aks-infiniband-dev/providers/{alerts}"
    arm.groups = {"aks-infiniband-dev": [rules], group: [scale_set]}
    assert main([*flags, "-s", "dev", "--folder", str(ROOT)]) == 1
    kind, _, name = alerts.rpartition("/")
    assert left(capsys) == {
        f"{kind} {name} in resource group aks-infiniband-dev": f"az resource delete --ids {rules}",
        "resource group aks-infiniband-dev": f"az group delete --subscription {SUBSCRIPTION} --name aks-infiniband-dev",
        f"Microsoft.Compute/virtualMachineScaleSets ib in resource group {group}": (
            f"az resource delete --ids {scale_set}"
        ),
        f"resource group {group}": f"az group delete --subscription {SUBSCRIPTION} --name {group}",
    }


def test_role_assignments_of_an_identity_that_is_gone_are_named_and_others_are_not(
    flags: list[str], arm: Arm, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    document["config"]["aks-infiniband:cluster"]["network"] = {"nodeSubnetId": SUBNET}
    (tmp_path / "Pulumi.dev.yaml").write_text(yaml.safe_dump(document))
    (tmp_path / "Pulumi.yaml").write_text("name: lab\n")
    (tmp_path / "values").symlink_to(ROOT / "values")
    gone, there, else_ = ("gone", "there", "somebody")
    names = {gone: assignment_name(SUBNET, gone, ROLE), there: assignment_name(SUBNET, there, ROLE), else_: "by-hand"}
    arm.subnet_roles = [
        {"name": name, "scope": SUBNET, "principalId": principal, "roleDefinitionId": ROLE}
        for principal, name in names.items()
    ]
    arm.identities = (there,)
    assert main([*flags, "-s", "dev", "--folder", str(tmp_path)]) == 1
    (remedy,) = left(capsys).values()
    assert remedy == f"az role assignment delete --ids /assignments/{names[gone]}"


def test_without_the_project_nobody_knows_the_clusters_name(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text((ROOT / "Pulumi.dev.yaml").read_text())
    (tmp_path / "values").symlink_to(ROOT / "values")
    assert main([*flags, "-s", "dev", "--folder", str(tmp_path)]) == 2
    assert "Pulumi.yaml" in capsys.readouterr().err


def test_what_cannot_be_read_is_no_clean_bill(flags: list[str], arm: Arm, capsys: pytest.CaptureFixture[str]) -> None:
    arm.refused = "resourcegroups$"
    assert main([*flags, "-s", "dev", "--folder", str(ROOT)]) == 2
    assert "AuthorizationFailed" in capsys.readouterr().err


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **more}}


DEFINITION = {
    **named("nicclusterpolicies.mellanox.com"),
    "spec": {
        "group": "mellanox.com",
        "scope": "Cluster",
        "names": {"kind": "NicClusterPolicy", "plural": "nicclusterpolicies"},
        "versions": [{"name": "v1alpha1", "served": True, "storage": True}],
    },
}
FLAVORS = {
    **named("resourceflavors.kueue.x-k8s.io"),
    "spec": {
        "group": "kueue.x-k8s.io",
        "scope": "Cluster",
        "names": {"kind": "ResourceFlavor", "plural": "resourceflavors"},
        "versions": [{"name": "v1beta2", "served": True, "storage": True}],
    },
}
OTHERS = {**named("widgets.example.com"), "spec": {**DEFINITION["spec"], "group": "example.com"}}
ADMISSION, RBAC = "/apis/admissionregistration.k8s.io/v1", "/apis/rbac.authorization.k8s.io/v1"
GUARD = {
    **named("aks-infiniband-workloads", labels=PART_OF),
    "spec": {"policyName": "p", "validationActions": ["Deny"]},
}
ROLE_OF_OURS = named("aks-infiniband-system-validation", labels=PART_OF)
BOUND = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}}
UPGRADES = "nvidia.com/gpu-driver-upgrade-enabled"
NODE = {
    **named(
        "n0",
        labels={"feature.node.kubernetes.io/pci-15b3.present": "true", "example.com/fabric": "a"},
        annotations={CORDONED: "rdma-write-bandwidth", HELD: "nic n1", UPGRADES: "true", "example.com/owner": "a"},
    ),
    "spec": {"taints": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}, {"key": "sku", "effect": "NoSchedule"}]},
    "status": {"conditions": [{"type": kind, "status": "False"} for kind in ("InfiniBandHealthy", "DiskPressure")]},
}


@pytest.fixture
def api() -> Iterator[str]:
    """The kubeconfig of an API server that has what a careless destroy leaves."""
    lists = {
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions": [DEFINITION, FLAVORS, OTHERS],
        "/apis/kueue.x-k8s.io/v1beta2/resourceflavors": [named("infiniband-nd", labels=PART_OF), named("theirs")],
        "/apis/mellanox.com/v1alpha1/nicclusterpolicies": [named("nic-cluster-policy")],
        "/api/v1/namespaces": [
            named("network-operator", deletionTimestamp="2026-11-22T10:00:00Z"),
            named("gpu-operator"),
            named("aks-infiniband-system"),
            named("default"),
        ],
        "/api/v1/nodes": [NODE],
        f"{ADMISSION}/validatingadmissionpolicybindings": [GUARD],
        f"{ADMISSION}/validatingadmissionpolicies": [GUARD, {**named("somebody-elses"), "spec": {}}],
        f"{RBAC}/clusterrolebindings": [{**ROLE_OF_OURS, **BOUND}],
        f"{RBAC}/clusterroles": [ROLE_OF_OURS, named("cluster-admin")],
    }

    def answer(path: str, query: str, *_: Any) -> tuple[int, Any, dict[str, str]]:
        wanted = {tuple(label.split("=")) for label in parse_qs(query).get("labelSelector", [])}
        chosen = [found for found in lists[path] if wanted <= (found["metadata"].get("labels") or {}).items()]
        return 200, {"metadata": {}, "items": chosen}, {}

    with serving(answer) as url:
        yield yaml.safe_dump(
            {
                "current-context": "c",
                "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                "clusters": [{"name": "c", "cluster": {"server": url}}],
                "users": [{"name": "u", "user": {}}],
            }
        )


def test_in_somebody_elses_cluster_what_the_operators_left_is_named_and_nothing_else(api: str) -> None:
    lives, orphans = left_in(api, kept={"example.com/fabric"})
    found = {orphan.what: orphan.remedy for orphan in orphans}
    assert lives is None
    unless = ", unless something else in the cluster uses it"
    assert found == {
        f"NicClusterPolicy.mellanox.com nic-cluster-policy{unless}": (
            "kubectl delete NicClusterPolicy.mellanox.com nic-cluster-policy"
        ),
        f"ResourceFlavor.kueue.x-k8s.io infiniband-nd{unless}": (
            "kubectl delete ResourceFlavor.kueue.x-k8s.io infiniband-nd"
        ),
        "namespace network-operator, and hangs": "kubectl delete namespace network-operator",
        f"namespace gpu-operator{unless}": "kubectl delete namespace gpu-operator",
        "namespace aks-infiniband-system": "kubectl delete namespace aks-infiniband-system",
        **{
            f"{kind} {name}": f"kubectl delete {kind} {name}"
            for kind, name in (
                ("ValidatingAdmissionPolicyBinding", "aks-infiniband-workloads"),
                ("ValidatingAdmissionPolicy", "aks-infiniband-workloads"),
                ("ClusterRoleBinding", "aks-infiniband-system-validation"),
                ("ClusterRole", "aks-infiniband-system-validation"),
            )
        },
        f"definition nicclusterpolicies.mellanox.com{unless}": "kubectl delete crd nicclusterpolicies.mellanox.com",
        f"1 labels of the operators on node n0{unless}": (
            "kubectl label node n0 feature.node.kubernetes.io/pci-15b3.present-"
        ),
        f"taint nvidia.com/gpu:NoSchedule on node n0{unless}": "kubectl taint node n0 nvidia.com/gpu:NoSchedule-",
        "node n0, cordoned by aks-infiniband validate for rdma-write-bandwidth": (
            f"kubectl uncordon n0 && kubectl annotate node n0 {CORDONED}-"
        ),
        f"annotation {HELD} on node n0": f"kubectl annotate node n0 {HELD}-",
        f"annotation {UPGRADES} on node n0{unless}": f"kubectl annotate node n0 {UPGRADES}-",
        "condition InfiniBandHealthy on node n0": (
            "kubectl patch node n0 --subresource status --patch "
            '\'{"status": {"conditions": [{"type": "InfiniBandHealthy", "$patch": "delete"}]}}\''
        ),
    }


def test_what_belongs_to_somebody_elses_gpu_operator_is_not_left_over(api: str) -> None:
    found = [orphan.what for orphan in left_in(api, kept=(), theirs=[GPU_OPERATOR])[1]]
    assert [what for what in found if "gpu-operator" in what or "nvidia.com/gpu" in what or "labels" in what] == []
    assert any("NicClusterPolicy" in what for what in found)


def test_the_transcripts_of_the_page_are_what_the_command_prints(
    flags: list[str], arm: Arm, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "teardown.md").read_text(encoding="utf-8")
    said = re.findall(r"^\$ aks-infiniband teardown -s dev\n((?:.*\n)+?)```", page, flags=re.MULTILINE)
    group = "MC_aks-infiniband-dev_aks-infiniband-dev_southcentralus"
    disk = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/Microsoft.Compute/disks/os-0"
    for number, groups in enumerate(({}, {group: [disk]})):
        arm.groups = groups
        assert main([*flags, "-s", "dev", "--output", "text"]) == number
        assert capsys.readouterr().out.rstrip() == said[number].rstrip()


def test_the_clusters_default_name_is_after_project_and_stack() -> None:
    file = ROOT / "Pulumi.dev.yaml"
    cluster = stack_of(file, configuration_of(file)).cluster
    assert isinstance(cluster, AzureClusterArgs)
    assert cluster.cluster.cluster_name == "aks-infiniband-dev"
