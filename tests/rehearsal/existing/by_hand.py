"""The cluster of Azure's public guide (Azure/aks-rdma-infiniband), made by hand: both operators by `helm install`, rule
and policy by `kubectl apply`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.facts.releases import DEFAULT_RELEASE
from aks_infiniband.resources.registry import SOURCES
from lightkube.resources.core_v1 import Pod

from rehearsal.azure.plugin import make_plugin_folder
from rehearsal.azure.subscription import DEFAULT_FILE
from rehearsal.control_plane import ENVIRONMENT_VARIABLE
from rehearsal.stack.stand_in_charts import STAND_IN_CHARTS
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.engine_runs import engine_on, run
from tests.rehearsal.shell import shell
from tests.rehearsal.stacks.conftest import Stack

_FEATURE: Final = "Microsoft.ContainerService/AKSInfinibandSupport"
NAMESPACES: Final = ("network-operator", "gpu-operator")
_TAINT: Final = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
_VALUES: Final[dict[str, dict[str, Any]]] = {
    "network-operator": {
        "nfd": {"deployNodeFeatureRules": False},
        "node-feature-discovery": {"worker": {"tolerations": [_TAINT]}},
    },
    "gpu-operator": {
        "nfd": {"enabled": False},
        "driver": {"rdma": {"enabled": True}},
        "toolkit": {"env": [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]},
        "daemonsets": {"tolerations": [_TAINT]},
    },
}
_RULE: Final = {
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
    "kind": "NodeFeatureRule",
    "metadata": {"name": "nfd-network-rule"},
    "spec": {
        "rules": [
            {
                "name": "nfd-network-rule",
                "labels": {"feature.node.kubernetes.io/pci-15b3.present": "true"},
                "matchFeatures": [
                    {
                        "feature": "pci.device",
                        "matchExpressions": {
                            "device": {"op": "In", "value": ["101c", "101e"]},
                            "class": {"op": "In", "value": ["0207"]},
                        },
                    }
                ],
            }
        ]
    },
}
_PARTS: Final = DEFAULT_RELEASE.parts
_SELECTORS: Final = {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
_SHARED: Final = {"configList": [{"resourceName": "shared_ib", "rdmaHcaMax": 63, "selectors": _SELECTORS}]}
_POLICY: Final[dict[str, Any]] = {
    "tolerations": [_TAINT],
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "feature.node.kubernetes.io/pci-15b3.present", "operator": "In", "values": ["true"]}
                    ]
                }
            ]
        }
    },
    "ofedDriver": {**SOURCES.fields(_PARTS.doca_driver), "upgradePolicy": {"autoUpgrade": True}},
    "rdmaSharedDevicePlugin": {
        **SOURCES.fields(_PARTS.rdma_shared_device_plugin),
        "config": json.dumps(_SHARED),
    },
}


def make(stack: Stack, folder: Path) -> None:
    """Make it in the stack's data centre, whose nodes are there; it is ready."""
    rehearsal = stack.rehearsal
    rehearsal.engine()  # it makes the nodes of the stack file
    given = folder / "given.json"
    releases = {name: {"chart": str(STAND_IN_CHARTS / name), "values": values} for name, values in _VALUES.items()}
    given.write_text(json.dumps({"kubeconfig": rehearsal.run.kubeconfig.read_text(), "releases": releases}))
    installed = run(
        engine_on(
            Path(__file__).with_name("guide"),
            folder=folder / "guide",
            stack="guide",
            environment={ENVIRONMENT_VARIABLE: str(rehearsal.run.root)},
            config={"guide:given": str(given)},
        ),
        "up",
    )
    assert installed.succeeded, installed.said
    nics = {"apiVersion": "mellanox.com/v1alpha1", "kind": "NicClusterPolicy"}
    documents = [_RULE, {**nics, "metadata": {"name": "nic-cluster-policy"}, "spec": _POLICY}]
    (folder / "applied.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    ready = "--for=jsonpath={.status.state}=ready --timeout=120s"
    shell(
        rehearsal,
        "kubectl apply --filename applied.json\n"
        f"kubectl wait {ready} nicclusterpolicy/nic-cluster-policy clusterpolicy/cluster-policy",
        folder=folder,
    )


def make_in_azure(rehearse_ours: RehearseOurs, folder: Path, pools: Mapping[str, Any]) -> Stack:
    """A data centre with an AKS cluster of others, these node pools, and what `make` makes in it. The feature was
    registered before.

    pools: by name, the arguments of their AgentPools.
    """
    file, subscription = folder / "subscription.yaml", yaml.safe_load(DEFAULT_FILE.read_text())
    file.write_text(yaml.safe_dump({**subscription, "features": {**subscription["features"], _FEATURE: "Registered"}}))
    stack = rehearse_ours("dev", subscription=file)
    engine = engine_on(
        Path(__file__).with_name("aks"),
        folder=folder / "aks",
        stack="theirs",
        environment={ENVIRONMENT_VARIABLE: str(stack.rehearsal.run.root)},
        config={"aks:pools": json.dumps(pools)},
    )
    make_plugin_folder(engine.plugins)
    made = run(engine, "up")
    assert made.succeeded, made.said
    make(stack, folder)
    return stack


def pods(stack: Stack) -> dict[str, str]:
    """The UID of every pod of the operators and of what they run, by namespace and name."""
    found = [pod.to_dict()["metadata"] for place in NAMESPACES for pod in stack.cluster().list(Pod, namespace=place)]
    return {f"{pod['namespace']}/{pod['name']}": pod["uid"] for pod in found if "deletionTimestamp" not in pod}
