"""A TrainJob of Kubeflow Trainer and its TrainingRuntime; Trainer gives torchrun its ranks.

The stack's pools come on stdin: `aks-infiniband workload -s dev | python3 job.py POOL NAMESPACE IMAGE [QUEUE]`.
"""

import json
import sys

from aks_infiniband import Workload, train_job

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
items = train_job(workload, ["torchrun", "train.py"])
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=2)
