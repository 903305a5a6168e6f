"""One template for each way that jobs are run, with the fabric wired in and asserted: plain documents for kubectl.

Each is made of a pool's podTemplate and fails at its start, in words, if NCCL or UCX would use sockets. Fields are
those of JobSet 0.12, Kubeflow Trainer 2.3, training-operator 1.9, MPI Operator 0.8 and LeaderWorkerSet 0.10.
"""

from collections.abc import Sequence
from typing import Any, Final

from aks_infiniband.workload.checked import CHECK, Workload, text

Documents = list[dict[str, Any]]
_LAUNCHES: Final = 6
"""Further attempts of a queued launcher, in the course of ten minutes (Kubernetes, "Jobs", backoffLimit and its delays:
10 s, doubled each time, 6 minutes at most): room to pull an image."""


def indexed_job(workload: Workload, command: Sequence[str]) -> Documents:
    """A Job of Kubernetes with one pod a machine, and the Service by which they find each other.

    Pod N is NAME-N.NAME, and knows N as JOB_COMPLETION_INDEX.
    """
    return [_service(workload), _job(workload, workload.pod(command))]


def tcp_job(workload: Workload, command: Sequence[str]) -> Documents:
    """The same for a program that speaks TCP over IPoIB. Raises ValueError for a pool that is not in mode ipoib."""
    if not workload.interfaces:
        raise ValueError("template joins no IPoIB network; take podTemplate of a pool in mode ipoib")
    return [_service(workload), _job(workload, workload.pod(command, sockets=True))]


def job_set(workload: Workload, command: Sequence[str]) -> Documents:
    """A JobSet with one Job. Pod N is NAME-workers-0-N.NAME; it does not restart."""
    template = {"spec": _job_spec(workload, workload.pod(command))}
    spec = {
        "failurePolicy": {"maxRestarts": 0},
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "replicatedJobs": [{"name": "workers", "replicas": 1, "template": template}],
    }
    return [{**workload.head("jobset.x-k8s.io/v1alpha2", "JobSet"), "spec": spec}]


def train_job(workload: Workload, command: Sequence[str]) -> Documents:
    """A TrainJob of Kubeflow Trainer, and the TrainingRuntime that it runs in. torchrun finds its ranks by itself."""
    pod = workload.pod(command, container="node")
    step = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}}
    template = {"metadata": step, "spec": {"backoffLimit": 0, "template": pod}}
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainingRuntime",
        "metadata": workload.named(),
        "spec": {
            "mlPolicy": {"numNodes": workload.machines, "torch": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": template}]}},
        },
    }
    spec = {
        "runtimeRef": {
            "apiGroup": "trainer.kubeflow.org",
            "kind": "TrainingRuntime",
            "name": workload.name,
        },
        # Left to Trainer, a pod without GPUs would get a process for each CPU that it requests.
        "trainer": {"numNodes": workload.machines, "numProcPerNode": workload.accelerators or 1},
    }
    return [runtime, {**workload.head("trainer.kubeflow.org/v1alpha1", "TrainJob"), "spec": spec}]


def pytorch_job(workload: Workload, command: Sequence[str]) -> Documents:
    """A PyTorchJob of Kubeflow's training-operator: a master and workers. torchrun finds its ranks by itself."""
    pod = workload.pod(command, container="pytorch")
    replicas = {"Master": 1, "Worker": workload.machines - 1}
    spec = {
        "nprocPerNode": str(workload.accelerators or 1),
        "runPolicy": {"backoffLimit": 0, "cleanPodPolicy": "Running"},
        "pytorchReplicaSpecs": {
            role: {"replicas": number, "restartPolicy": "Never", "template": pod}
            for role, number in replicas.items()
            if number
        },
    }
    return [{**workload.head("kubeflow.org/v1", "PyTorchJob"), "spec": spec}]


def mpi_job(workload: Workload, command: Sequence[str]) -> Documents:
    """An MPIJob: the launcher runs the command, mpirun, on any node; workers run sshd on the machines. With a queue the
    launcher tolerates the pool's taints, too, because the queue may not have other machines.

    The launcher comes when all workers run, because mpirun fails if one is still pulling its image. The launcher does
    not need InfiniBand, so it is not checked. A worker whose check fails refuses every login: mpirun fails with what
    the check said. sshd of the image must find its keys in /root/.ssh.
    """
    # Kueue suspends a job first, and MPI Operator 0.8.0 starts the launcher of one that is resumed together with its
    # workers, whatever launcherCreationPolicy says (seen 2026-11-26): mpirun has to try again until they are there.
    attempts = _LAUNCHES if workload.queue else 0
    launcher = {"name": "launcher", "image": workload.image, "command": list(command)}
    tolerated = workload.template["spec"].get("tolerations") if workload.queue else None
    alone = {"containers": [launcher], **({"tolerations": tolerated} if tolerated else {})}
    worker = workload.unchecked(["sh", "-c", text("mpi_worker.sh"), "sh", text(CHECK)], container="worker")
    spec = {
        "launcherCreationPolicy": "WaitForWorkersReady",
        "slotsPerWorker": workload.accelerators or 1,
        "runPolicy": {"backoffLimit": attempts, "cleanPodPolicy": "Running"},
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": alone}},
            "Worker": {"replicas": workload.machines, "restartPolicy": "Never", "template": worker},
        },
    }
    return [{**workload.head("kubeflow.org/v2beta1", "MPIJob"), "spec": spec}]


def vllm_server(workload: Workload, *, model: str, port: int = 8080) -> Documents:
    """A LeaderWorkerSet that serves one model with vLLM: tensors within a machine, the pipeline across machines.

    The commands are those of LeaderWorkerSet 0.10.0 (docs/examples/vllm/GPU/lws.yaml). A pod that fails its check is
    started again with its group: a server does not give up.
    """
    ray = "bash /vllm-workspace/examples/online_serving/multi-node-serving.sh"
    serve = (
        f'{ray} leader --ray_cluster_size=$LWS_GROUP_SIZE && exec python3 -m vllm.entrypoints.openai.api_server "$@"'
    )
    flags = {
        "--model": model,
        "--port": str(port),
        "--tensor-parallel-size": str(workload.accelerators or 1),
        "--pipeline-parallel-size": str(workload.machines),
    }
    leader = workload.pod(
        ["sh", "-c", serve, "sh", *(word for flag in flags.items() for word in flag)], container="vllm"
    )
    worker = workload.pod(["sh", "-c", f"exec {ray} worker --ray_address=$LWS_LEADER_ADDRESS"], container="vllm")
    leader["spec"]["containers"][0] |= {
        "ports": [{"containerPort": port}],
        "readinessProbe": {"tcpSocket": {"port": port}},
    }
    for template in (leader, worker):
        template["spec"]["restartPolicy"] = "Always"  # the only one that a LeaderWorkerSet's StatefulSets take
    spec = {
        "replicas": 1,
        "leaderWorkerTemplate": {
            "size": workload.machines,
            "restartPolicy": "RecreateGroupOnPodRestart",
            "leaderTemplate": leader,
            "workerTemplate": worker,
        },
    }
    return [{**workload.head("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"), "spec": spec}]


def _service(workload: Workload) -> dict[str, Any]:
    selector = {"batch.kubernetes.io/job-name": workload.name}
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
    return {"apiVersion": "v1", "kind": "Service", "metadata": workload.named(), "spec": spec}


def _job(workload: Workload, pod: dict[str, Any]) -> dict[str, Any]:
    pod["spec"]["subdomain"] = workload.name
    return {**workload.head("batch/v1", "Job"), "spec": _job_spec(workload, pod)}


def _job_spec(workload: Workload, pod: dict[str, Any]) -> dict[str, Any]:
    """One attempt: a pod that fails its check fails the Job at once."""
    return {
        "completionMode": "Indexed",
        "completions": workload.machines,
        "parallelism": workload.machines,
        "backoffLimit": 0,
        "template": pod,
    }
