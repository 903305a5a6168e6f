"""The sample Job of a pool, applied as a person applies it."""

import json
from dataclasses import dataclass
from pathlib import Path

from rehearsal.session import Rehearsal
from tests.rehearsal.shell import shell


@dataclass(frozen=True)
class Sample:
    """The results of a sample Job that completed."""

    nodes: set[str]
    """Names of the nodes that its pods ran on."""
    shown: str
    """The facts on their machines that its pods showed."""


def completed_sample(
    rehearsal: Rehearsal, pool: str, *, output: str | None = None, namespace: str = "aks-infiniband", folder: Path
) -> Sample:
    """Apply the sample of a pool unchanged, wait until it has completed, and delete it.

    output: the stack's output that holds it; without one the command prints it, as for the project's own program.
    folder: a new one of the test.
    """
    name, where = f"sample-{pool}", f"--namespace {namespace}"
    command = f"aks-infiniband workload {pool} --sample --stack {rehearsal.stack} --folder {rehearsal.project}"
    printed = f"pulumi stack output {output} --json" if output else command
    logs = f"kubectl logs --selector job-name={name} {where} --container show --tail=-1"
    script = f"""
{printed} | kubectl apply --filename -
kubectl wait --for=condition=complete job/{name} {where} --timeout=120s
kubectl get pods --selector job-name={name} {where} --output json > pods.json
{logs} > shown.log
kubectl delete job,service,configmap {name} {where}
"""
    shell(rehearsal, script, folder=folder)
    pods = json.loads((folder / "pods.json").read_text())["items"]
    return Sample(nodes={pod["spec"]["nodeName"] for pod in pods}, shown=(folder / "shown.log").read_text())
