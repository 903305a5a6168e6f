"""The stack `existing`: a cluster that others made and keep, with kube-prometheus and a GPU Operator in it, and with
namespaces of teams. The tests follow one another.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.core_v1 import ConfigMap, Namespace, Pod

from tests.rehearsal.engine_runs import Outcome, run
from tests.rehearsal.shell import shell

from .conftest import Stack, doctor

STACK = "existing"
RELEASE: dict[str, Any] = {"release": "monitoring"}
PodMonitor = create_namespaced_resource("monitoring.coreos.com", "v1", "PodMonitor", "podmonitors")
PrometheusRule = create_namespaced_resource("monitoring.coreos.com", "v1", "PrometheusRule", "prometheusrules")
ResourceFlavor = create_global_resource("kueue.x-k8s.io", "v1beta2", "ResourceFlavor", "resourceflavors")
Topology = create_global_resource("kueue.x-k8s.io", "v1beta2", "Topology", "topologies")
BY_DESIGN = ("definition ", "labels of the operators on node ")
"""The leftovers of Helm and Node Feature Discovery: docs/teardown.md."""
LEFT_ON_PURPOSE = """
kubectl create clusterrole aks-infiniband-system-validation --verb list --resource nodes
kubectl label clusterrole aks-infiniband-system-validation app.kubernetes.io/part-of=aks-infiniband
kubectl create clusterrole somebody-elses --verb list --resource nodes
kubectl create --filename - <<END
apiVersion: mellanox.com/v1alpha1
kind: NicClusterPolicy
metadata: {name: nic-cluster-policy, finalizers: [example.com/whose-operator-is-gone]}
spec: {}
END
kubectl delete nicclusterpolicies.mellanox.com nic-cluster-policy --wait=false
kubectl cordon NODE
kubectl annotate node NODE aks-infiniband/cordoned-by-validate=hca-state
kubectl patch node NODE --subresource status --patch '
  {"status": {"conditions": [{"type": "InfiniBandHealthy", "status": "False"}]}}'
"""


TEAMS = ["team-a", "team-b"]
MEND = """
taint='{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}'
toolkit='{"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]}'
policy='{"spec": {"toolkit": '"$toolkit"', "daemonsets": {"tolerations": ['"$taint"']}}}'
kubectl patch clusterpolicy cluster-policy --type merge --patch "$policy"
worker='{"spec": {"template": {"spec": {"tolerations": ['"$taint"']}}}}'
kubectl --namespace nvidia-gpu-operator patch daemonset node-feature-discovery-worker --type merge --patch "$worker"
"""


@pytest.fixture(scope="module", autouse=True)
def watched(stack: Stack) -> None:
    """The stack with metrics and alerts, for the kube-prometheus-stack that the cluster's owner installed, with the GPU
    Operator that the owner keeps, and for the owner's Kueue.
    """
    monitored = {"prometheus": "kube-prometheus", "labels": RELEASE}
    stack.settings(observability=monitored, gpuOperator={"existing": True}, workload={"namespaces": TEAMS})
    stack.settings(schedulerTopology={"scheduler": "kueue"})


def teardown(stack: Stack) -> dict[str, str]:
    """The findings of `aks-infiniband teardown`, each with its command; its exit code fits."""
    stack.settings(existingCluster={"kubeconfig": str(stack.rehearsal.run.kubeconfig)})
    command = [str(Path(sys.executable).with_name("aks-infiniband")), "teardown", "-s", STACK, "--output", "json"]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=180, cwd=stack.rehearsal.project
    )
    assert done.returncode in (0, 1), done.stderr
    found = {orphan["what"]: orphan["remedy"] for orphan in json.loads(done.stdout)["left"]}
    assert bool(found) == (done.returncode == 1)
    return found


def test_what_others_have_to_do_first_is_told_at_preview_and_nothing_is_made(stack: Stack, tmp_path: Path) -> None:
    engine = stack.rehearsal.engine()
    shell(stack.rehearsal, "kubectl create namespace team-a", folder=tmp_path)
    for command in ("preview", "up"):
        refused = run(engine, command)
        assert not refused.succeeded
        assert (
            "the cluster does not have the namespace team-b, which aks-infiniband:workload.namespaces names"
            in refused.errors
        )
        assert "kubectl create namespace team-b; or set" in refused.errors
        assert "ClusterPolicy cluster-policy does not tolerate the taint sku=gpu:NoSchedule" in refused.errors
        assert "ClusterPolicy cluster-policy lacks RUNTIME_CONFIG_SOURCE=file in toolkit.env" in refused.errors
        assert [step.name for step in refused.steps if step.changed and step.custom] == []


def test_a_preview_where_nothing_is_there_yet_finds_nothing_wrong(stack: Stack, tmp_path: Path) -> None:
    shell(stack.rehearsal, MEND, folder=tmp_path)
    stack.settings(workload={"namespaces": TEAMS, "createNamespaces": True})
    planned = stack.preview()
    assert planned.succeeded, planned.said
    assert set(planned.changed.values()) == {"create"}


def test_without_the_definitions_of_its_prometheus_up_makes_nothing_and_says_what_brings_them(
    stack: Stack, tmp_path: Path
) -> None:
    engine = stack.rehearsal.engine()
    names = "podmonitors.monitoring.coreos.com prometheusrules.monitoring.coreos.com"
    shell(stack.rehearsal, f"kubectl delete customresourcedefinition {names}", folder=tmp_path)
    refused = run(engine, "up")
    assert not refused.succeeded
    assert "no PodMonitor and no PrometheusRule of monitoring.coreos.com/v1" in refused.errors
    assert "helm install monitoring kube-prometheus-stack" in refused.errors
    assert [step.name for step in refused.steps if step.changed and step.custom] == []


def test_nodes_are_known_by_their_labels_and_no_azure_resource_is_made(stack: Stack, brought_up: Outcome) -> None:
    assert not [step for step in brought_up.steps if "azure-native" in step.type]
    offered = [node["status"]["allocatable"] for node in stack.nodes(**{"example.com__fabric": "ndh100"})]
    assert [(node["rdma/shared_ib"], node["nvidia.com/gpu"]) for node in offered] == [("63", "8")] * 2
    assert stack.verdicts() == {"ndh100": "pass"}


def test_the_gpus_are_those_of_the_operator_that_was_there_and_no_other_is_installed(
    stack: Stack, brought_up: Outcome
) -> None:
    assert "Release rdma-gpu-operator" not in brought_up.changed
    pods = stack.cluster().list(Pod, namespace="nvidia-gpu-operator", labels={"app": "nvidia-driver-daemonset"})
    assert len(list(pods)) == 2
    main = stack.workload("ndh100")["podTemplate"]["spec"]["containers"][0]
    assert main["resources"]["limits"]["nvidia.com/gpu"] == "8"


def test_what_the_operators_own_discovery_gets_wrong_is_warned_of_and_all_that_the_doctor_finds(
    stack: Stack, brought_up: Outcome
) -> None:
    assert "Node Feature Discovery labels nodes without InfiniBand" in brought_up.said
    found = doctor(stack.rehearsal.run.kubeconfig)["findings"]
    assert {finding["symptom"] for finding in found} == {"ordinary-node-labelled"}


def test_teams_have_their_settings_in_a_namespace_that_was_there_and_in_one_that_was_made(
    stack: Stack, brought_up: Outcome
) -> None:
    for team in TEAMS:
        assert stack.cluster().get(ConfigMap, "workload-ndh100", namespace=team).data


def test_a_namespace_at_restricted_takes_pods_of_the_restricted_template_and_refuses_others(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    pool = stack.workload("ndh100")
    level = "kubectl label --overwrite namespace team-b pod-security.kubernetes.io/enforce=restricted"
    shell(stack.rehearsal, level, folder=tmp_path)
    for template, taken in (("restrictedPodTemplate", True), ("podTemplate", False)):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "team-b"}, **pool[template]}
        pod["spec"]["containers"][0]["image"] = "busybox"
        (tmp_path / "pod.json").write_text(json.dumps(pod))
        create = "kubectl create --dry-run=server --filename pod.json 2>&1 || true"
        said = shell(stack.rehearsal, create, folder=tmp_path)
        assert ("violates PodSecurity" in said) is not taken, said


def watching(stack: Stack) -> dict[str, list[str]]:
    """Names of the monitors, rules and dashboards that the cluster's Prometheus and Grafana select."""
    selected: dict[Any, dict[str, Any]] = {PodMonitor: RELEASE, PrometheusRule: RELEASE}
    selected[ConfigMap] = {"grafana_dashboard": "1"}
    return {
        kind.__name__: sorted(
            str(found.metadata.name) for found in stack.cluster().list(kind, namespace="*", labels=labels)
        )
        for kind, labels in selected.items()
    }


def test_the_clusters_prometheus_selects_monitors_and_alerts_and_its_grafana_the_dashboard(
    stack: Stack, brought_up: Outcome
) -> None:
    assert watching(stack) == {
        "PodMonitor": ["aks-infiniband-hcas", "aks-infiniband-light-check"],
        "PrometheusRule": ["aks-infiniband-alerts"],
        "ConfigMap": ["aks-infiniband-dashboard"],
    }


def told_to_kueue(stack: Stack) -> dict[str, Any]:
    """The specs of flavors and topologies, by name."""
    kinds: tuple[Any, ...] = (ResourceFlavor, Topology)
    found = [each.to_dict() for kind in kinds for each in stack.cluster().list(kind)]
    return {each["metadata"]["name"]: each["spec"] for each in found}


def test_the_owners_kueue_knows_the_pool_by_its_label_and_its_taint(stack: Stack, brought_up: Outcome) -> None:
    told = told_to_kueue(stack)
    flavor = told.pop("infiniband-ndh100")
    assert flavor["nodeLabels"] == {"example.com/fabric": "ndh100"}
    assert flavor["nodeTaints"] == [{"key": "sku", "value": "gpu", "effect": "NoSchedule"}]
    assert told == {
        flavor["topologyName"]: {
            "levels": [{"nodeLabel": "example.com/fabric"}, {"nodeLabel": "kubernetes.io/hostname"}]
        }
    }


def test_a_second_up_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}


@pytest.mark.field_report("B18", "D11")
def test_destroy_takes_custom_resources_before_their_operator_and_leaves_the_cluster(
    stack: Stack, brought_up: Outcome
) -> None:
    nodes = {node["metadata"]["name"] for node in stack.nodes()}
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    order = [f"{step.type.rsplit(':', 1)[-1]} {step.name}" for step in destroyed.steps if step.operation == "delete"]
    policy = next(place for place, what in enumerate(order) if what.startswith("NicClusterPolicy"))
    release = next(
        place for place, what in enumerate(order) if what.startswith("Release") and "network-operator" in what
    )
    assert policy < release
    assert {node["metadata"]["name"] for node in stack.nodes()} == nodes, "they are somebody else's"
    left = {str(namespace.to_dict()["metadata"]["name"]) for namespace in stack.cluster().list(Namespace)}
    assert not left & {"network-operator", "gpu-operator", "aks-infiniband", "aks-infiniband-system"}
    assert left >= {"nvidia-gpu-operator", *TEAMS}, "nobody knows what others keep there"
    assert watching(stack) == {"PodMonitor": [], "PrometheusRule": [], "ConfigMap": []}, "their definitions stay"
    assert told_to_kueue(stack) == {}


def test_what_was_left_on_purpose_is_named_and_the_commands_leave_nothing(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    after_destroy = teardown(stack)
    assert [what for what in after_destroy if not any(words in what for words in BY_DESIGN)] == []
    node = stack.nodes()[0]["metadata"]["name"]
    shell(stack.rehearsal, LEFT_ON_PURPOSE.replace("NODE", node), folder=tmp_path)
    found = teardown(stack)
    orphans = {what: remedy for what, remedy in found.items() if what not in after_destroy}
    role = "ClusterRole aks-infiniband-system-validation"
    held = (
        "NicClusterPolicy.mellanox.com nic-cluster-policy, which the finalizers example.com/whose-operator-is-gone "
        "hold: their operator is gone"
    )
    said_of_node = {
        f"node {node}, cordoned by aks-infiniband validate for hca-state",
        f"condition InfiniBandHealthy on node {node}",
    }
    assert set(orphans) == {role, held, *said_of_node}
    assert orphans[role] == f"kubectl delete {role}"
    shell(stack.rehearsal, "\n".join(found.values()), folder=tmp_path)
    assert teardown(stack) == {}
    assert not any(node["spec"].get("unschedulable") for node in stack.nodes())
