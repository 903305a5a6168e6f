"""A LeaderWorkerSet that serves one model with vLLM on all machines of a pool; the image is vLLM's.

The stack's pools come on stdin: `aks-infiniband workload -s dev | python3 job.py POOL NAMESPACE IMAGE [QUEUE]`.
"""

import json
import sys

from aks_infiniband import Workload, vllm_server

pool, namespace, image, *queue = sys.argv[1:]
about = json.load(sys.stdin)[pool]
workload = Workload(
    name="llama",
    namespace=namespace,
    template=about["podTemplate"],
    machines=about["nodeCount"],
    image=image,
    requests={"cpu": "80", "memory": "1000Gi"},
    queue=queue[0] if queue else None,
)
items = vllm_server(workload, model="meta-llama/Llama-3.1-405B-Instruct")
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=2)
