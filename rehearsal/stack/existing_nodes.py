"""The nodes of a cluster that exists before the program runs, for a stack with `existingCluster`.

The nodes are made before the engine runs, from the stack file: nodes with each pool's labels, size, count and taints,
each pool on one fabric, and two system nodes. The nodes stay when the stack is destroyed, because it does not own them.
"""

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, cast

from aks_infiniband.facts.catalog.machine import MachineSize
from lightkube import ApiError, Client, KubeConfig
from lightkube.resources.core_v1 import Node

from rehearsal.azure.node_images import UBUNTU_2404_FROM, newest_image
from rehearsal.azure.node_parts import (
    KWOK_ANNOTATION,
    MACHINE_ANNOTATION,
    allocatable,
    capacity,
    has_nvidia_gpus,
    machine_annotation,
    node_info,
    stable_uuid,
    taints,
)
from rehearsal.azure.subscription import Size, load
from rehearsal.run.sizes import known_sizes
from rehearsal.stack.stack_file import NAMESPACE, opened, section

OWNER_ANNOTATION: Final = "rehearsal.aks-infiniband/existing"
"""On the nodes made here, so that nodes that a changed stack file no longer has are found and removed."""
SYSTEM_NODES: Final = 2
_SYSTEM_SIZE: Final = "Standard_D8s_v5"
_PODS: Final = 110
"""A kubelet's default."""
_DISK_GB: Final = 128
_ADDRESSES: Final = ipaddress.IPv4Network("10.180.0.0/16")
_POD_ADDRESSES: Final = ipaddress.IPv4Network("10.192.0.0/10")
MOST_NODES: Final = 5000
"""Nodes of a cluster (Kubernetes, "Considerations for large clusters"); the program refuses more."""
_NODE_NAME: Final = r"[a-z0-9]{1,63}"
"""The part of a node's name that is its pool's."""
_REGION: Final = "southcentralus"


def register(run: Path, kubeconfig: Path, config: Mapping[str, Any]) -> None:
    """Make the cluster's nodes those of a stack file's configuration; nodes that are right stay as they are.

    run: the run folder; kubeconfig: the cluster administrator's.
    """
    client = Client(config=KubeConfig.from_file(str(kubeconfig)), trust_env=False, field_manager="existing-cluster")
    version = str(client._client._client.get("/version").raise_for_status().json()["gitVersion"])
    sizes: dict[str, Size | MachineSize] = {**load().sizes, **known_sizes(run)}
    wanted = {document["metadata"]["name"]: document for document in nodes(config, sizes, kubelet_version=version)}
    for node in client.list(Node):
        annotations = (node.metadata.annotations if node.metadata else None) or {}
        name = str(node.metadata.name if node.metadata else "")
        if OWNER_ANNOTATION not in annotations:
            continue
        if annotations[OWNER_ANNOTATION] != _fingerprint(wanted.get(name)):
            client.delete(Node, name, grace_period=0)
    for document in wanted.values():
        _create(client, document)


def _create(client: Client, document: dict[str, Any]) -> None:
    try:
        client.create(cast("Node", Node.from_dict(document)))
    except ApiError as error:
        # One with labels or taints that no node can have is left out: the program refuses them, and says why.
        if error.status.code not in (HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY):
            raise


def _fingerprint(document: Mapping[str, Any] | None) -> str | None:
    return document["metadata"]["annotations"][OWNER_ANNOTATION] if document else None


def nodes(
    config: Mapping[str, Any], sizes: Mapping[str, Size | MachineSize], *, kubelet_version: str
) -> Iterator[dict[str, Any]]:
    """The Node objects of a stack file's configuration.

    A pool that is not well-formed has none: the program refuses it, and says why.
    """
    existing = section(config, "existingCluster") or {}
    system = {"name": "system", "vmSize": _SYSTEM_SIZE, "count": SYSTEM_NODES}
    pools = opened(config.get(f"{NAMESPACE}:pools"))
    number = 0
    for pool in [{**system, "nodeSelector": existing.get("systemNodeSelector")}, *_listed(pools)]:
        if not _is_well_formed(pool, sizes):
            continue
        for index in range(min(pool["count"], MOST_NODES - number)):
            yield _node(pool, sizes[pool["vmSize"]], index, number, kubelet_version)
            number += 1


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_well_formed(pool: Any, sizes: Mapping[str, Any]) -> bool:
    return (
        isinstance(pool, Mapping)
        and all(isinstance(pool.get(key), str) for key in ("name", "vmSize"))
        and re.fullmatch(_NODE_NAME, pool["name"]) is not None
        and pool["vmSize"] in sizes
        and type(pool.get("count")) is int
        and isinstance(pool.get("nodeSelector") or {}, Mapping)
        and isinstance(pool.get("taints") or [], list)
    )


def _node(
    pool: Mapping[str, Any], size: Size | MachineSize, index: int, number: int, kubelet_version: str
) -> dict[str, Any]:
    name = f"{pool['name']}-{index}"
    provider_id = (
        "azure:///subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/existing/providers"
        f"/Microsoft.Compute/virtualMachines/{name}"
    )
    fabric = stable_uuid(f"existing/{pool['name']}" if isinstance(size, MachineSize) else provider_id)
    driver = "Install" if pool.get("gpuDriver") == "aks" else "None"
    image = newest_image("Ubuntu2404", UBUNTU_2404_FROM, size)
    machine = machine_annotation(
        size_name=pool["vmSize"],
        size=size,
        fabric=str(fabric),
        instance=index,
        gpu_profile={"driver": driver},
        image=image,
    )
    prefix = f"{_POD_ADDRESSES[number * 256]}/24"
    document: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": _labels(pool, size, name, driver),
            "annotations": {KWOK_ANNOTATION: "fake", MACHINE_ANNOTATION: machine},
        },
        "spec": {
            "providerID": provider_id,
            "taints": taints(map(str, pool.get("taints") or [])),
            "podCIDR": prefix,
            "podCIDRs": [prefix],
        },
        "status": {
            "capacity": capacity(size, _DISK_GB, _PODS),
            "allocatable": allocatable(size, _DISK_GB, _PODS),
            "addresses": [
                {"type": "InternalIP", "address": str(_ADDRESSES[number + 4])},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": node_info(size=size, image=image, kubelet_version=kubelet_version, provider_id=provider_id),
        },
    }
    document["metadata"]["annotations"][OWNER_ANNOTATION] = str(stable_uuid(json.dumps(document, sort_keys=True)))
    return document


def _labels(pool: Mapping[str, Any], size: Size | MachineSize, name: str, driver: str) -> dict[str, str]:
    """The labels of any kubelet on Azure, and the pool's node selector.

    Only AKS installs the driver `aks`, and it labels such nodes; all other nodes may belong to any distribution.
    """
    of_aks = {"kubernetes.azure.com/accelerator": "nvidia"} if driver == "Install" and has_nvidia_gpus(size) else {}
    return {
        "kubernetes.io/hostname": name,
        "kubernetes.io/arch": size.architecture,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": pool["vmSize"],
        "topology.kubernetes.io/region": _REGION,
        "topology.kubernetes.io/zone": f"{_REGION}-1",
        **of_aks,
        **{str(key): str(value) for key, value in (pool.get("nodeSelector") or {}).items()},
    }
