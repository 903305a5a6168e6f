"""Installs the charts by Releases, as the real program does, with the values that the test wrote next to the stack."""

import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

given = json.loads(Path(pulumi.Config().require("given")).read_text())
provider = kubernetes.Provider("cluster", kubeconfig=given["kubeconfig"], cluster_identifier="rehearsal")
for name, chart in given["releases"].items():
    options = pulumi.ResourceOptions(provider=provider)
    namespace = kubernetes.core.v1.Namespace(name, metadata={"name": name}, opts=options)
    kubernetes.helm.v3.Release(
        name,
        name=name,
        chart=chart["path"],
        repository_opts={"repo": chart["repository"]} if chart["repository"] else None,
        namespace=namespace.metadata["name"],
        values=chart["values"],
        atomic=True,
        timeout=60,
        opts=options,
    )
