"""A decision as the text of a stack file."""

from typing import Any, Final

import yaml
from aks_infiniband.facts.kubernetes import RELEASES, minor_of
from aks_infiniband.facts.pool import agent_pool_label

from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import Decision
from aks_infiniband_cli.console import CommandError

KUBERNETES: Final = {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"}
"""As in the project's own stacks: both operators name it, and long-term support lasts longer than its own year."""
_SCHEMA: Final = "# yaml-language-server: $schema=docs/settings.schema.json"


def stack_file(decision: Decision, answers: Answers) -> str:
    """The text of the stack file; it rehearses as it stands. Raises CommandError for a decision without InfiniBand."""
    if decision.mode is None or decision.size is None:
        raise CommandError("there is no stack file without InfiniBand")
    pool: dict[str, Any] = {"name": pool_name(decision.size.series), "vmSize": decision.size.name}
    pool["count"] = decision.count
    if decision.gpu_driver is not None:
        pool["gpuDriver"] = decision.gpu_driver
    if (decision.gpu_driver or decision.size.default_gpu_driver) != "none":
        pool["gpuDirect"] = "auto"  # the default is for clusters that are in use
    operator: dict[str, Any] = {"mode": decision.mode}
    config: dict[str, Any] = {}
    notes = [f"{decision.transport} on {decision.count} × {decision.size.name}, written by `aks-infiniband init`."]
    if answers.existing:
        config["aks-infiniband:existingCluster"] = {"kubeconfig": "~/.kube/config"}
        pool["nodeSelector"] = agent_pool_label(pool["name"])
        operator["nodePreparation"] = True
        notes += [
            "nodeSelector must be labels that the pool's nodes carry, and no others. nodePreparation lifts the pods'",
            "memlock limit; leave it out where the cluster's owner has done so.",
        ]
    else:
        config["azure-native:location"] = answers.region
        config["aks-infiniband:cluster"] = dict(KUBERNETES)
        version = KUBERNETES["kubernetesVersion"]
        until = RELEASES[minor_of(version)].long_term_end
        notes.append(f"With this plan AKS supports Kubernetes {version} until {until:%B %Y}.")
    config["aks-infiniband:pools"] = [pool]
    config["aks-infiniband:networkOperator"] = operator
    config["aks-infiniband:validation"] = {"mode": "enforce"}
    text = yaml.safe_dump({"config": config}, sort_keys=False)
    return "\n".join([_SCHEMA, *(f"# {note}" for note in notes), text])


def pool_name(series: str) -> str:
    """A pool's name from the family's: 12 lower-case letters and digits at most, as AKS takes them."""
    return "".join(letter for letter in series.lower() if letter.isalnum())[:12]
