"""A Job whose processes talk TCP over IPoIB: PyTorch's Gloo on the interface net1.

The stack's pools come on stdin: `aks-infiniband workload -s dev | python3 job.py POOL NAMESPACE IMAGE [QUEUE]`.
"""

import json
import sys

from aks_infiniband import Workload, tcp_job

pool, namespace, image, *queue = sys.argv[1:]
about = json.load(sys.stdin)[pool]
workload = Workload(
    name="train",
    namespace=namespace,
    template=about["podTemplate"],
    machines=about["nodeCount"],
    image=image,
    requests={"cpu": "80", "memory": "300Gi"},
    queue=queue[0] if queue else None,
)
command = [
    "env",
    "GLOO_SOCKET_IFNAME=net1",
    "torchrun",
    f"--nnodes={workload.machines}",
    f"--nproc-per-node={workload.accelerators or 1}",
    "--node-rank=$(JOB_COMPLETION_INDEX)",
    "--master-addr=train-0.train",
    "train.py",
]
items = tcp_job(workload, command)
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=2)
