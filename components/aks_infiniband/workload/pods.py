"""The needs of a pod that uses a pool's InfiniBand: settings in the cluster, and the common part of its template."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from aks_infiniband.facts.pool import Pool, node_affinity, tolerated_by_workloads
from aks_infiniband.workload.claims import container_claims, pod_claims
from aks_infiniband.workload.environment import nccl_environment
from aks_infiniband.workload.topology import nccl_topology

NAMESPACE: Final = "aks-infiniband"
"""Namespace of the workload settings, of the IPoIB networks and of the validation."""

SHM_SIZE: Final = "64Gi"
"""Limit of the memory-backed /dev/shm: the AKS guide's. Only what is used counts, against the pod's memory."""

TOPOLOGY_KEY: Final = "nccl-topology.xml"
"""Key of the ConfigMap, and name of the file, that holds a pool's NCCL topology."""

_TOPOLOGY_FOLDER: Final = "/etc/aks-infiniband"
_DEVICES: Final = "/dev/infiniband"
_USER: Final = 1000
"""User of a restricted pod: any except root. An image that needs another one is given it in its place."""
DRIVER_READY: Final = {"network.nvidia.com/operator.mofed.wait": "false"}
"""Label that the Network Operator keeps on a node whose driver container is ready."""


def config_map_name(pool_name: str, kind: Literal["", "-ipoib", "-topology"] = "") -> str:
    """Name of a ConfigMap of a pool.

    kind: "" has the environment for InfiniBand, -ipoib that for TCP/IP over InfiniBand (of a pool in mode ipoib), and
        -topology the NCCL topology.
    """
    return f"workload-{pool_name}{kind}"


def config_maps(pool: Pool, *, topology: str | None = None) -> dict[str, dict[str, str]]:
    """The data of a pool's ConfigMaps, by name.

    The topology has a separate one: `envFrom` would make a variable of it. topology: content of a given NCCL topology
    file; by default the one of the size.
    """
    by_name = {config_map_name(pool.name): pool_environment(pool)}
    if pool.access.networks:
        environment = nccl_environment("ipoib", ipoib_interfaces=pool.ipoib_interfaces)
        by_name[config_map_name(pool.name, "-ipoib")] = environment
    text = topology or nccl_topology(pool.size)
    if text is not None:
        by_name[config_map_name(pool.name, "-topology")] = {TOPOLOGY_KEY: text}
    return by_name


def pool_environment(pool: Pool) -> dict[str, str]:
    """The environment of a pool's workloads for InfiniBand."""
    gpus = pool.size.accelerator
    return nccl_environment(service_level=pool.size.infiniband.service_level, gpu_vendor=gpus.vendor if gpus else None)


def rdma_resources(pool: Pool) -> dict[str, str]:
    """The extended resources of a pod that uses InfiniBand and no GPU; empty in the modes dra and driver-only."""
    return {pool.rdma_resource: str(pool.rdma_quantity)} if pool.rdma_resource else {}


def network_annotation(pool: Pool, *, network_namespace: str = NAMESPACE) -> dict[str, str]:
    """The annotation with which a pod of any namespace joins the pool's IPoIB networks; empty in other modes.

    network_namespace: that of the IpoibNetworks.
    """
    if not pool.access.networks:
        return {}
    joined = ", ".join(f"{network_namespace}/{network}" for network in pool.ipoib_networks)
    return {"k8s.v1.cni.cncf.io/networks": joined}


def one_pod_a_machine(labels: Mapping[str, str]) -> dict[str, Any]:
    """The podAntiAffinity of core/v1 with which no two pods that carry these labels run on one machine."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": dict(labels)}}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def pod_template_fragment(
    pool: Pool,
    *,
    topology: str | None = None,
    pull_secret: str | None = None,
    network_namespace: str = NAMESPACE,
    container: str = "main",
    restricted: bool = False,
) -> dict[str, Any]:
    """The part of a PodTemplateSpec that every workload on the pool has in common: merge it into your own.

    The pod has to be in a namespace that has the pool's ConfigMaps.
    topology: content of a given NCCL topology file; by default the one of the size.
    pull_secret: Secret of the pod's namespace with the registry's credentials.
    network_namespace: that of the pool's IpoibNetworks.
    container: name of the container that gets resources, permissions, environment and shared memory.
    restricted: whether it is for a namespace of Pod Security's level restricted. The pod then runs as another user than
        root and without IPC_LOCK, so the nodes' memlock limit must be lifted.

    Raises ValueError for a restricted one on a pool in mode driver-only, whose pods are privileged.
    """
    with_topology = config_map_name(pool.name, "-topology") in config_maps(pool, topology=topology)
    volumes = dict(_volumes(pool, with_topology=with_topology))
    topology_file = {"name": "NCCL_TOPO_FILE", "value": f"{_TOPOLOGY_FOLDER}/{TOPOLOGY_KEY}"}
    resources = {name: str(quantity) for name, quantity in pool.promised_resources.items()}
    claims = {"claims": container_claims(pool)} if pod_claims(pool) else {}
    main = {
        "name": container,
        "envFrom": [{"configMapRef": {"name": config_map_name(pool.name)}}],
        "env": [topology_file] if with_topology else [],
        "resources": {"requests": resources, "limits": dict(resources), **claims},
        "securityContext": _restricted(pool) if restricted else _security_context(pool),
        "volumeMounts": [{"name": name, **mount} for name, (_, mount) in volumes.items()],
    }
    spec: dict[str, Any] = {
        "nodeSelector": dict(pool.node_selector),
        **tolerated_by_workloads(pool),
        "containers": [main],
        "volumes": [{"name": name, **source} for name, (source, _) in volumes.items()],
    }
    if pod_claims(pool):
        spec["resourceClaims"] = pod_claims(pool)
    if pool.access.privileged and pool.nic_driver == "doca-ofed":
        # No resource keeps the pod off a node whose driver is not there yet.
        spec["affinity"] = {"nodeAffinity": node_affinity([pool], labels=DRIVER_READY)}
    if pull_secret is not None:
        spec["imagePullSecrets"] = [{"name": pull_secret}]
    annotations = network_annotation(pool, network_namespace=network_namespace)
    return {**({"metadata": {"annotations": annotations}} if annotations else {}), "spec": spec}


def _volumes(pool: Pool, *, with_topology: bool) -> Iterator[tuple[str, tuple[dict[str, Any], dict[str, Any]]]]:
    """Name, source and mount of each volume."""
    yield "shm", ({"emptyDir": {"medium": "Memory", "sizeLimit": SHM_SIZE}}, {"mountPath": "/dev/shm"})  # noqa: S108 a mount path
    if with_topology:
        source = {"configMap": {"name": config_map_name(pool.name, "-topology")}}
        yield "topology", (source, {"mountPath": _TOPOLOGY_FOLDER, "readOnly": True})
    if pool.access.privileged:
        yield "infiniband", ({"hostPath": {"path": _DEVICES, "type": "Directory"}}, {"mountPath": _DEVICES})


def _security_context(pool: Pool) -> dict[str, Any]:
    if pool.access.privileged:
        # Privileged, because no device plugin hands the device nodes out: the container's device cgroup would refuse
        # every one of them.
        return {"privileged": True}
    # Registering memory with an HCA locks it, beyond what containerd's limit allows.
    return {"capabilities": {"add": ["IPC_LOCK"]}}


def _restricted(pool: Pool) -> dict[str, Any]:
    """The requirements of the level (Kubernetes, "Pod Security Standards", 1.34)."""
    if pool.access.privileged:
        raise ValueError(f"pool {pool.name}: pods of a pool in mode driver-only are privileged")
    return {
        "runAsNonRoot": True,
        "runAsUser": _USER,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }
