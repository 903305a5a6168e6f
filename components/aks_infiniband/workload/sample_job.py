"""A sample Job for a pool: one pod on each machine shows its InfiniBand and, on GPUs, all of them reduce together.

Plain data that `kubectl apply` takes as it is. Each pod fails if it sees less than its machine has, so a Job that
completes has shown that pods of this pool get what the template promises.
"""

from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import Accelerator
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.versions import VALIDATION_IMAGE, collective_image
from aks_infiniband.resources.metadata import labels
from aks_infiniband.resources.registry import Registry
from aks_infiniband.workload import sample
from aks_infiniband.workload.compute_domains import near_by_nvlink
from aks_infiniband.workload.environment import LIST_HCAS
from aks_infiniband.workload.pods import NAMESPACE, one_pod_a_machine, pod_template_fragment, rdma_resources

_HOME: Final = "/opt/aks-infiniband"
_PROGRAMS: Final = {"name": "programs", "mountPath": _HOME, "readOnly": True}
_SHOW: Final = "show_infiniband.py"
_ALL_REDUCE: Final = "all_reduce.py"
_PORT: Final = 29500
"""torchrun's own choice of rendezvous port."""


def sample_name(pool: Pool) -> str:
    """Name of the sample's Job, Service and ConfigMap."""
    return f"sample-{pool.name}"


def sample_job(
    pool: Pool,
    *,
    namespace: str = NAMESPACE,
    network_namespace: str = NAMESPACE,
    registry: Registry = Registry(),  # noqa: B008  frozen
    topology: str | None = None,
) -> dict[str, Any]:
    """The sample of a pool as a List: its programs, the Service by which its pods find each other, and the Job.

    namespace: one that has the pool's workload settings. network_namespace: that of the pool's IpoibNetworks. registry:
    the source of images; by default their own registries. topology: content of a given NCCL topology file; by default
    the one of the size.
    """
    fragment = pod_template_fragment(
        pool, topology=topology, pull_secret=registry.pull_secret, network_namespace=network_namespace
    )
    names = [_SHOW, _ALL_REDUCE] if _gpus(pool) else [_SHOW]
    programs = {name: (resources.files(sample) / name).read_text() for name in names}
    return {
        "apiVersion": "v1",
        "kind": "List",
        "items": [
            {**_head("v1", "ConfigMap", pool, namespace), "data": programs},
            {
                **_head("v1", "Service", pool, namespace),
                "spec": {
                    "clusterIP": "None",
                    # The pods meet before any of them is ready.
                    "publishNotReadyAddresses": True,
                    "selector": {"batch.kubernetes.io/job-name": sample_name(pool)},
                },
            },
            {
                **_head("batch/v1", "Job", pool, namespace),
                "spec": {
                    "completionMode": "Indexed",
                    "completions": pool.node_count,
                    "parallelism": pool.node_count,
                    "backoffLimit": 0,
                    # An hour to read its logs, then it makes room for the next.
                    "ttlSecondsAfterFinished": 3600,
                    "template": _pod_template(pool, fragment, registry),
                },
            },
        ],
    }


def _gpus(pool: Pool) -> Accelerator | None:
    """The devices that the pods reduce on: the GPUs of each machine, if a plugin offers them."""
    return pool.size.accelerator if pool.gpu_resource is not None else None


def _head(api_version: str, kind: str, pool: Pool, namespace: str) -> dict[str, Any]:
    metadata = {"name": sample_name(pool), "namespace": namespace, "labels": _labels(pool)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def _labels(pool: Pool) -> dict[str, str]:
    return {
        **labels("sample", "workload"),
        "app.kubernetes.io/instance": pool.name,
        "app.kubernetes.io/managed-by": "kubectl",
    }


def _pod_template(pool: Pool, fragment: Mapping[str, Any], registry: Registry) -> dict[str, Any]:
    spec = fragment["spec"]
    (main,) = spec["containers"]
    gpus = _gpus(pool)
    if gpus is not None:
        spec["initContainers"] = [_show(pool, main, registry)]
        spec["containers"] = [_all_reduce(pool, gpus, main, registry)]
    else:
        spec["containers"] = [_show(pool, main, registry)]
    spec["volumes"] = [*spec["volumes"], {"name": "programs", "configMap": {"name": sample_name(pool)}}]
    spec |= {"restartPolicy": "Never", "subdomain": sample_name(pool)}
    own = {"batch.kubernetes.io/job-name": sample_name(pool)}
    near = {"podAffinity": near_by_nvlink(own)} if pool.has_compute_domain else {}
    spec["affinity"] = {**spec.get("affinity", {}), **near, "podAntiAffinity": one_pod_a_machine(own)}
    annotations = fragment.get("metadata", {}).get("annotations", {})
    return {"metadata": {"labels": _labels(pool), "annotations": annotations}, "spec": spec}


def _show(pool: Pool, main: Mapping[str, Any], registry: Registry) -> dict[str, Any]:
    devices = rdma_resources(pool)
    return {
        **main,
        "name": "show",
        "image": registry.image(VALIDATION_IMAGE),
        "command": [
            *("python3", f"{_HOME}/{_SHOW}"),
            *("--hcas", str(pool.size.infiniband.hca_count)),
            *("--sys-class", "/sys/class"),
            *("--devices", "/dev/infiniband"),
            *(f"--interface={name}" for name in pool.ipoib_interfaces),
        ],
        "env": [*main["env"], {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
        "resources": {
            **main["resources"],
            "requests": {"cpu": "100m", "memory": "64Mi", **devices},
            "limits": {"memory": "128Mi", **devices},
        },
        "volumeMounts": [*main["volumeMounts"], _PROGRAMS],
    }


def _all_reduce(pool: Pool, gpus: Accelerator, main: Mapping[str, Any], registry: Registry) -> dict[str, Any]:
    name = sample_name(pool)
    return {
        **main,
        "name": "all-reduce",
        "image": registry.image(collective_image(gpus.model)),
        "command": [
            *("sh", "-c", f'{LIST_HCAS}; exec "$@"', "sh"),
            "torchrun",
            f"--nnodes={pool.node_count}",
            f"--nproc-per-node={gpus.count}",
            "--node-rank=$(JOB_COMPLETION_INDEX)",
            f"--master-addr={name}-0.{name}",
            f"--master-port={_PORT}",
            f"{_HOME}/{_ALL_REDUCE}",
        ],
        # The log says which network NCCL takes, and whether GPUs and HCAs reach one another (GDRDMA).
        "env": [*main["env"], {"name": "NCCL_DEBUG", "value": "INFO"}],
        # Two processors and 4 GiB for each process: CUDA, NCCL's buffers and the imports.
        "resources": {
            **main["resources"],
            "requests": {**main["resources"]["requests"], "cpu": str(2 * gpus.count), "memory": f"{4 * gpus.count}Gi"},
        },
        "volumeMounts": [*main["volumeMounts"], _PROGRAMS],
    }
