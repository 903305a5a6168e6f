"""One object in the rehearsal's cluster, and if the stack says so another that never gets ready."""

import os
from pathlib import Path
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

kubeconfig = (Path(os.environ["AKS_INFINIBAND_REHEARSAL"]) / "kubeconfig").read_text()
there = pulumi.ResourceOptions(provider=kubernetes.Provider("cluster", kubeconfig=kubeconfig))
made = kubernetes.core.v1.ConfigMap("made", metadata={"name": "made", "namespace": "default"}, data={}, opts=there)
if pulumi.Config().get_bool("waits"):
    container = {"name": "main", "image": "registry.invalid/main"}
    spec: Any = {"nodeSelector": {"kubernetes.io/hostname": "nowhere"}, "containers": [container]}
    kubernetes.core.v1.Pod("never", metadata={"name": "never", "namespace": "default"}, spec=spec, opts=there)
pulumi.export("made", made.metadata["name"])
