"""The NicClusterPolicy: what the Network Operator puts on every node with InfiniBand."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis, metadata, versions
from aks_infiniband._options import child_options, wait_annotations
from aks_infiniband.network_operator import PRESENT
from aks_infiniband.pool import Pool, node_affinity, tolerations

POLICY_NAME: Final = "nic-cluster-policy"
"""The only name that the operator looks at."""
RDMA_SHARED_RESOURCE: Final = "rdma/shared_ib"
"""The extended resource of mode rdma-shared; rdma is the device plugin's default prefix."""


def nic_cluster_policy_spec(pools: Sequence[Pool]) -> dict[str, Any]:
    """The spec of the NicClusterPolicy for mode rdma-shared: DOCA-OFED, the shared device plugin and telemetry."""
    spec: dict[str, Any] = {
        "nodeAffinity": node_affinity(pools, labels=PRESENT),
        "ofedDriver": _ofed_driver(),
        "rdmaSharedDevicePlugin": {
            **versions.RDMA_SHARED_DEVICE_PLUGIN.as_fields(),
            "config": json.dumps(_rdma_shared_config(), indent=2),
        },
    }
    # NVIDIA publishes the telemetry service for amd64 only.
    if all(pool.size.architecture == "amd64" for pool in pools):
        spec["docaTelemetryService"] = versions.DOCA_TELEMETRY.as_fields()
    tolerated = tolerations(pools)
    if tolerated:
        spec["tolerations"] = tolerated
    return spec


def _ofed_driver() -> dict[str, Any]:
    """Probes and upgrade policy are those of the AKS InfiniBand guide (Azure/aks-rdma-infiniband, base policy)."""
    return {
        **versions.DOCA_DRIVER.as_fields(),
        "forcePrecompiled": False,
        # Without it the module's loading races with the host's own blacklist (doca-driver-build issue 52).
        "env": [
            {
                "name": "OFED_BLACKLIST_MODULES_FILE",
                "value": "/host/etc/modprobe.d/blacklist-ofed-modules.conf",
            }
        ],
        # The driver is replaced one node at a time, each drained first: a reload takes the fabric from under its pods.
        "upgradePolicy": {
            "autoUpgrade": True,
            "maxParallelUpgrades": 1,
            "drain": {"enable": True, "force": True, "deleteEmptyDir": True, "timeoutSeconds": 300},
        },
        "startupProbe": {"initialDelaySeconds": 10, "periodSeconds": 20},
        "livenessProbe": {"initialDelaySeconds": 30, "periodSeconds": 30},
        "readinessProbe": {"initialDelaySeconds": 10, "periodSeconds": 30},
    }


def _rdma_shared_config() -> dict[str, Any]:
    """The link type keeps the Ethernet mlx5 device out; 63 pods share a node (AKS InfiniBand guide)."""
    _, _, name = RDMA_SHARED_RESOURCE.partition("/")
    return {
        "configList": [
            {
                "resourceName": name,
                "rdmaHcaMax": 63,
                "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]},
            }
        ]
    }


@dataclass(frozen=True, kw_only=True)
class NicClusterPolicyArgs:
    """What a NicClusterPolicy takes."""

    pools: Sequence[Pool]
    """The pools that the policy is for; their labels select nodes, their taints are tolerated."""
    timeout_seconds: float
    """How long the policy may take to become ready, from its creation. Nodes need not exist yet."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed wait is explained; without it the engine's own message stands."""


class NicClusterPolicy(pulumi.ComponentResource):
    """The cluster's one NicClusterPolicy, ready when the operator says so.

    It needs the definitions that NetworkOperator installs: give that component as depends_on. Name, kind and
    group are fixed, so that no update can replace or delete it: that would take the fabric from under every pod.
    """

    state: pulumi.Output[str]
    """`.status.state`: ready."""

    def __init__(self, name: str, *, args: NicClusterPolicyArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:NicClusterPolicy", name, None, opts)
        policy = kubernetes.apiextensions.CustomResource(
            name,
            api_version="mellanox.com/v1alpha1",
            kind="NicClusterPolicy",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=POLICY_NAME,
                labels=metadata.labels(POLICY_NAME, "policy"),
                annotations=wait_annotations("jsonpath={.status.state}=ready", args.timeout_seconds),
            ),
            spec=nic_cluster_policy_spec(args.pools),
            opts=child_options(
                self,
                opts,
                hooks=diagnosis.on_error(
                    name, waiting_for="nic-cluster-policy", kubeconfig=args.kubeconfig, pools=args.pools
                ),
            ),
        )
        # The wait is part of the policy's own registration: once its id is known, its state is ready.
        self.state = policy.id.apply(lambda _: "ready")
        self.register_outputs({"state": self.state})
