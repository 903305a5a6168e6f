"""A decision as the text of a stack file."""

import hashlib
import re
from typing import Any, Final

import yaml
from aks_infiniband.facts.azure_names import LONGEST_NODE_GROUP, node_group, pool_name_of
from aks_infiniband.facts.kubernetes import RELEASES, minor_of
from aks_infiniband.facts.modes import ACCESS
from aks_infiniband.facts.pool import agent_pool_label
from aks_infiniband.stack.settings.consistency.validation import LEAST_NODES
from aks_infiniband.terminal import page

from aks_infiniband_cli.choose.answers import Answers
from aks_infiniband_cli.choose.decision import Decision
from aks_infiniband_cli.console import CommandError

KUBERNETES: Final = {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"}
"""The version of the stacks in this project. Both operators name it, and long-term support lasts longer than its own
year.
"""
_NAME: Final = r"[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?"
"""A cluster's name as Azure takes it. Its longest length follows from that of the node resource group's name."""
_DIGITS: Final = 6
"""Characters of a hash that distinguishes two clusters whose names had to be cut."""
_DRIVER_IMAGE: Final = "myregistry.azurecr.io/amd/amdgpu-kmod"
_BUILT: Final = "driverImage must be a repository of yours: the cluster pushes the GPUs' driver there (docs/mi300x.md)."
_HOURLY: Final = "17 * * * *"
_SCHEMA: Final = "# yaml-language-server: $schema=docs/settings.schema.json"


def stack_file(decision: Decision, answers: Answers, *, stack: str, project: str) -> str:
    """The text of the stack file; it rehearses as it stands. Raises CommandError for a decision without InfiniBand.

    stack, project: their names, of which the program makes the cluster's.
    """
    if decision.mode is None or decision.size is None:
        raise CommandError("a stack file needs InfiniBand")
    pool: dict[str, Any] = {"name": pool_name_of(decision.size.series), "vmSize": decision.size.name}
    pool["count"] = decision.count
    if decision.gpu_driver is not None:
        pool["gpuDriver"] = decision.gpu_driver
    gpus = decision.size.accelerator
    if gpus and gpus.vendor == "nvidia" and (decision.gpu_driver or decision.size.default_gpu_driver) != "none":
        pool["gpuDirect"] = "auto"  # the default is for clusters that are in use
    measured_first = gpus is not None and decision.count >= LEAST_NODES and not ACCESS[decision.mode].privileged
    if measured_first:
        pool["admission"] = "measured-or-late"
    operator: dict[str, Any] = {"mode": decision.mode}
    built = gpus is not None and gpus.vendor == "amd" and decision.gpu_driver == "operator"
    config: dict[str, Any] = {"aks-infiniband:amdGpuOperator": {"driverImage": _DRIVER_IMAGE}} if built else {}
    notes = [f"{decision.transport} on {decision.count} × {decision.size.name}, written by `aks-infiniband init`."]
    notes += [_BUILT] if built else []
    if answers.existing:
        config["aks-infiniband:existingCluster"] = {"kubeconfig": "~/.kube/config"}
        pool["nodeSelector"] = agent_pool_label(pool["name"])
        operator["nodePreparation"] = True
        notes += [
            "nodeSelector must be labels that the pool's nodes carry, and no others. nodePreparation lifts the pods'",
            "memlock limit; leave it out if the cluster's owner has done so.",
        ]
    else:
        config["azure-native:location"] = answers.region
        name = cluster_name(stack, project, answers.region)
        config["aks-infiniband:cluster"] = {**KUBERNETES, **({"name": name} if name else {})}
        version = KUBERNETES["kubernetesVersion"]
        until = RELEASES[minor_of(version)].long_term_end
        notes.append(f"With this plan AKS supports Kubernetes {version} until {until:%B %Y}.")
    config["aks-infiniband:pools"] = [pool]
    config["aks-infiniband:networkOperator"] = operator
    config["aks-infiniband:validation"] = {"mode": "enforce"}
    if measured_first:
        config["aks-infiniband:lightCheck"] = {"schedule": _HOURLY}
        notes.append(f"Pods come to a node that joined or restarted when it is measured ({page('light-check')}).")
    text = yaml.safe_dump({"config": config}, sort_keys=False)
    return "\n".join([_SCHEMA, *(f"# {note}" for note in notes), text])


def cluster_name(stack: str, project: str, region: str) -> str | None:
    """A name for the cluster; None if Azure takes its default, which is made of project and stack.

    AKS puts it twice into the name of the node resource group, with the region.
    """
    default = f"{project}-{stack}"
    room = (LONGEST_NODE_GROUP - len(node_group("", "", region))) // 2
    if _fits(default, room):
        return None
    if _fits(stack, room):
        return stack
    digits = hashlib.sha256(default.encode()).hexdigest()[:_DIGITS]
    letters = re.sub(r"[^A-Za-z0-9]+", "-", stack).strip("-")[: room - _DIGITS - 1].strip("-")
    return f"{letters}-{digits}"


def _fits(name: str, room: int) -> bool:
    return len(name) <= room and re.fullmatch(_NAME, name) is not None
