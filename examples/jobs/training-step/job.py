"""A Job of Kubernetes that times one step of training on a pool, and on pairs of its machines.

The stack's pools come on stdin: `aks-infiniband workload -s dev | python3 job.py POOL NAMESPACE IMAGE [QUEUE]`.
"""

import json
import sys
from copy import deepcopy
from pathlib import Path

from aks_infiniband import Workload, indexed_job

HOME = "/training-step"
PROGRAMS = ("training_step.py", "pairs_of_nodes.py")

pool, namespace, image, *queue = sys.argv[1:]
about = json.load(sys.stdin)[pool]
template = deepcopy(about["podTemplate"])
template["spec"].setdefault("volumes", []).append({"name": "programs", "configMap": {"name": "training-step"}})
(main,) = template["spec"]["containers"]
main.setdefault("volumeMounts", []).append({"name": "programs", "mountPath": HOME})
main.setdefault("env", []).append({"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}})
workload = Workload(
    name="training-step",
    namespace=namespace,
    template=template,
    machines=about["nodeCount"],
    image=image,
    requests={"cpu": "32", "memory": "64Gi"},
    queue=queue[0] if queue else None,
)
command = [
    "torchrun",
    f"--nnodes={workload.machines}",
    f"--nproc-per-node={workload.accelerators or 1}",
    "--node-rank=$(JOB_COMPLETION_INDEX)",
    "--master-addr=training-step-0.training-step",
    f"{HOME}/training_step.py",
]
programs = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": workload.named(),
    "data": {name: (Path(__file__).parent / name).read_text() for name in PROGRAMS},
}
items = [programs, *indexed_job(workload, command)]
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=2)
