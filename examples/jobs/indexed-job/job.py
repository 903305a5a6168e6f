"""A Job of Kubernetes that trains with torchrun, one pod on each machine of a pool.

The stack's pools come on stdin: `aks-infiniband workload -s dev | python3 job.py POOL NAMESPACE IMAGE [QUEUE]`.
"""

import json
import sys

from aks_infiniband import Workload, indexed_job

pool, namespace, image, *queue = sys.argv[1:]
about = json.load(sys.stdin)[pool]
workload = Workload(
    name="train",
    namespace=namespace,
    template=about["podTemplate"],
    machines=about["nodeCount"],
    image=image,
    requests={"cpu": "80", "memory": "1000Gi"},
    queue=queue[0] if queue else None,
)
command = [
    "torchrun",
    f"--nnodes={workload.machines}",
    f"--nproc-per-node={workload.accelerators or 1}",
    "--node-rank=$(JOB_COMPLETION_INDEX)",
    "--master-addr=train-0.train",
    "train.py",
]
items = indexed_job(workload, command)
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=2)
