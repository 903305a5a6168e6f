"""The stand-ins' objects have the names, labels and mounts of the real operators' manifests."""

from typing import Any

import yaml

from rehearsal.operators.network.ofed import kernel_hash
from tests.conformance.facts import FOLDER
from tests.conformance.test_stand_in_operators import KERNEL, gpu_plan, network_plan

MANIFESTS = [yaml.safe_load(file.read_text()) for file in sorted((FOLDER / "operands").rglob("*.yaml"))]
REAL: dict[str, Any] = {name: said for manifest in MANIFESTS for name, said in manifest.get("workloads", {}).items()}
KEYS: dict[str, Any] = {name: keys for manifest in MANIFESTS for name, keys in manifest.get("config-maps", {}).items()}
FILLED_IN = {
    "OSName": "ubuntu",
    "OSVer": "24.04",
    "KernelHash": kernel_hash(KERNEL),
    "Kernel": KERNEL,
    "DSOwner": "NicClusterPolicy",
    "CniBinDirectory": "/opt/cni/bin",
    "CniNetworkDirectory": "/etc/cni/net.d",
    "ConfigMapName": "doca-telemetry-service",
}
"""The values that the operators fill in, for the policies and the node of these tests."""
NOT_ASKED_FOR = {
    *("config-manager", "config-manager-init"),  # configurations by node label
    *("nvidia-fs-ctr", "nvidia-gdrcopy-ctr", "openshift-driver-toolkit-ctr"),
}
"""Containers of the manifests that the operator takes out if the program's values do not enable them."""
MADE = {
    (document["kind"], document["metadata"]["name"]): document
    for plan in (network_plan(), gpu_plan())
    for document in plan.objects
}


def filled_in(value: Any) -> Any:
    if isinstance(value, dict):
        return {filled_in(key): filled_in(item) for key, item in value.items()}
    if isinstance(value, list):
        return [filled_in(item) for item in value if item not in NOT_ASKED_FOR]
    text = str(value)
    for name, given in FILLED_IN.items():
        text = text.replace(name, given)
    return text


def seen(document: dict[str, Any]) -> dict[str, Any]:
    """The fields of a stand-in's document that the facts have."""
    template = document["spec"]["template"]
    pod = template["spec"]
    made_by = {"nvidia.network-operator.state", "app.kubernetes.io/managed-by"}
    found = {
        "kind": document["kind"],
        "labels": {key: value for key, value in document["metadata"]["labels"].items() if key not in made_by},
        "selector": document["spec"]["selector"]["matchLabels"],
        "pod-labels": template["metadata"]["labels"],
        "node-selector": pod.get("nodeSelector"),
        "service-account": pod.get("serviceAccountName"),
        "init-containers": [container["name"] for container in pod.get("initContainers") or ()],
        "containers": [container["name"] for container in pod["containers"]],
        "volumes": {volume["name"]: _source(volume) for volume in pod.get("volumes") or ()},
    }
    return {key: value for key, value in found.items() if value}


def _source(volume: dict[str, Any]) -> str:
    source = volume.get("hostPath")
    return str(source["path"]) if source else f"ConfigMap {volume['configMap']['name']}"


def test_a_workload_is_the_real_one_in_names_labels_selectors_account_and_volumes() -> None:
    for name in sorted(set(REAL) - {"nic-feature-discovery-ds"}):
        real = filled_in(REAL[name])
        assert seen(MADE[real["kind"], filled_in(name)]) == real


def test_every_service_account_that_a_pod_names_is_made() -> None:
    named = {said["service-account"] for said in REAL.values() if "service-account" in said}
    assert named == {name for kind, name in MADE if kind == "ServiceAccount"}


def test_config_maps_have_the_real_ones_keys() -> None:
    assert {name: list(MADE["ConfigMap", name]["data"]) for name in map(filled_in, KEYS)} == filled_in(KEYS)
