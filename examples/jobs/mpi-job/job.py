"""An MPIJob that measures all-reduce with nccl-tests; the image has sshd, Open MPI and nccl-tests.

The stack's pools come on stdin: `aks-infiniband workload -s dev | python3 job.py POOL NAMESPACE IMAGE [QUEUE]`.
"""

import json
import sys

from aks_infiniband import Workload, mpi_job, nccl_environment

pool, namespace, image, *queue = sys.argv[1:]
about = json.load(sys.stdin)[pool]
workload = Workload(
    name="all-reduce",
    namespace=namespace,
    template=about["podTemplate"],
    machines=about["nodeCount"],
    image=image,
    requests={"cpu": "80", "memory": "1000Gi"},
    queue=queue[0] if queue else None,
)
ranks = workload.machines * (workload.accelerators or 1)
# Open MPI itself speaks TCP between its processes; what is measured is NCCL.
flags = ["--allow-run-as-root", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0", "-np", str(ranks)]
# mpirun starts the ranks through sshd, which hands them nothing of its container's environment.
environment = dict(nccl_environment())
environment |= {entry["name"]: entry["value"] for entry in about["podTemplate"]["spec"]["containers"][0].get("env", [])}
handed_on = [word for name, value in environment.items() for word in ("-x", f"{name}={value}")]
command = ["mpirun", *flags, *handed_on, "all_reduce_perf", "-b", "8", "-e", "16G", "-f", "2", "-g", "1"]
items = mpi_job(workload, command)
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout, indent=2)
