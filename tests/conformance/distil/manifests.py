"""Manifests of operands, as operators carry them: plain YAML, or templates of Go's text/template."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

_BLOCK = re.compile(r"\s*\{\{-? *(if|range|with|else|end)\b(.*?)-?\}\}\s*")
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}")
_TAKEN = ("InitContainerEnable", "DeployConfigMap")
"""Words of the conditions that hold: the chart names an init container, and the program names no ConfigMap."""


def operands(text: str) -> dict[str, Any]:
    """The DaemonSets and Deployments of a manifest, and the keys of its ConfigMaps.

    Values that the operator fills in stand there by their names. Parts that depend on a setting that the program does
    not make are left out.
    """
    documents = [found for found in yaml.safe_load_all("\n".join(_rendered(text))) if found]
    made = {found["metadata"]["name"]: _workload(found) for found in documents if found["kind"] != "ConfigMap"}
    keys = {found["metadata"]["name"]: list(found["data"]) for found in documents if found["kind"] == "ConfigMap"}
    return {**({"workloads": made} if made else {}), **({"config-maps": keys} if keys else {})}


def _rendered(text: str) -> Iterator[str]:
    taken: list[bool] = []
    for line in text.splitlines():
        block = _BLOCK.fullmatch(line)
        if block is None:
            if all(taken):
                yield _PLACEHOLDER.sub(_named, line)
        elif block[1] == "else":
            taken[-1] = not taken[-1]
        elif block[1] == "end":
            taken.pop()
        else:
            taken.append(block[1] == "if" and any(word in block[2] for word in _TAKEN))


def _named(placeholder: re.Match[str]) -> str:
    """A value that the operator fills in, by its name; its suffix for a NicNodePolicy is left out."""
    (*_, name) = re.findall(r"\w+", placeholder[0])
    return "" if name == "NameSuffix" else str(name)


def _workload(document: dict[str, Any]) -> dict[str, Any]:
    template = document["spec"]["template"]
    pod = template["spec"]
    found = {
        "kind": document["kind"],
        "labels": document["metadata"].get("labels"),
        "selector": document["spec"]["selector"]["matchLabels"],
        "pod-labels": template["metadata"]["labels"],
        "node-selector": pod.get("nodeSelector"),
        "service-account": pod.get("serviceAccountName"),
        "init-containers": [container["name"] for container in pod.get("initContainers") or ()],
        "containers": [container["name"] for container in pod["containers"]],
        "volumes": dict(map(_volume, pod.get("volumes") or ())),
    }
    return {key: value for key, value in found.items() if value}


def _volume(volume: dict[str, Any]) -> tuple[str, str]:
    """Its name, and the host's path or the ConfigMap."""
    source = volume.get("hostPath")
    return volume["name"], source["path"] if source else f"ConfigMap {volume['configMap']['name']}"
