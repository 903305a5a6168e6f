"""The two releases of Azure's public guide, each in a namespace that Helm makes, as `helm install` does."""

import json
from pathlib import Path

import pulumi
import pulumi_kubernetes as kubernetes

given = json.loads(Path(pulumi.Config().require("given")).read_text())
provider = kubernetes.Provider("cluster", kubeconfig=given["kubeconfig"], cluster_identifier="rehearsal")
before: list[pulumi.Resource] = []
for name, release in given["releases"].items():
    installed = kubernetes.helm.v3.Release(
        name,
        name=name,
        chart=release["chart"],
        namespace=name,
        create_namespace=True,
        values=release["values"],
        timeout=120,
        opts=pulumi.ResourceOptions(provider=provider, depends_on=before),
    )
    before = [installed]
