"""The configuration of kwok 0.8.0: its actions on the simulated nodes, and on pods if no machines process runs.

kwok keeps conditions, addresses and leases of the nodes. Pods are the machines process's; in a data centre without it
kwok lets the ordinary ones run, and no pod of behaviours.yaml or of a Job. Stage selectors are jq, templates Go's.
"""

import json
from typing import Any

import yaml

from rehearsal.machines.hardware.inventory import BROKEN_ANNOTATION
from rehearsal.machines.network.networks import NETWORKS_ANNOTATION
from rehearsal.machines.pods.behaviours import ANY, Behaviour, behaviours
from rehearsal.run.latency import Latencies

# The kubelet's own default of nodeStatusReportFrequency: 5 min. Leases come of kwok's --node-lease-duration-seconds.
_HEARTBEAT_MILLISECONDS = 300_000

_NODE_CONDITIONS = """\
{{ $now := Now }}
{{ $since := or .metadata.creationTimestamp $now }}
conditions:
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $since | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
"""

# Capacity, allocatable and nodeInfo stay as they are: the maker of the node knows its size.
_NODE_INITIALISED = (
    _NODE_CONDITIONS
    + """\
{{ if not .status.addresses }}
addresses:
{{ with NodeIP }}
- address: {{ . | Quote }}
  type: InternalIP
{{ end }}
- address: {{ .metadata.name | Quote }}
  type: Hostname
{{ end }}
phase: Running
"""
)

_POD_RUNNING = """\
{{ $now := Now }}
{{ $started := or .status.startTime $now }}
conditions:
{{ range $type := (list "PodReadyToStartContainers" "Initialized" "ContainersReady" "Ready") }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ $type | Quote }}
{{ end }}
{{ range .spec.readinessGates }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ .conditionType | Quote }}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  {{ if eq .restartPolicy "Always" }}
  started: true
  state:
    running:
      startedAt: {{ $now | Quote }}
  {{ else }}
  started: false
  state:
    terminated:
      exitCode: 0
      finishedAt: {{ $now | Quote }}
      reason: Completed
      startedAt: {{ $started | Quote }}
  {{ end }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  started: true
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
hostIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
{{ if not .status.podIP }}
{{ $hostNetwork := or .spec.hostNetwork false }}
{{ $pod := .metadata }}
{{ with PodIPsWith .spec.nodeName $hostNetwork $pod.uid $pod.name $pod.namespace }}
podIP: {{ index . 0 | Quote }}
podIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
{{ end }}
phase: Running
startTime: {{ $started | Quote }}
"""


_NOT_BROKEN = {"key": f'.metadata.annotations["{BROKEN_ANNOTATION}"]', "operator": "DoesNotExist"}
"""Holds for a node whose container runtime is up: the machines process says of the others that they are not ready."""


def render(speed: float, *, pods: bool) -> str:
    """The configuration file for a rehearsal at this speed (simulated seconds per real second).

    pods: whether kwok lets ordinary pods run.
    """
    documents = _node_stages() + (_pod_stages(speed) if pods else [])
    return yaml.safe_dump_all(documents, sort_keys=False)


def _node_stages() -> list[dict[str, Any]]:
    return [
        _stage("node-initialise", "Node", [_node_ready("NotIn"), _NOT_BROKEN], {"statusTemplate": _NODE_INITIALISED}),
        _stage(
            "node-heartbeat",
            "Node",
            [_node_ready("In"), _NOT_BROKEN],
            {"statusTemplate": _NODE_CONDITIONS},
            milliseconds=_HEARTBEAT_MILLISECONDS,
        ),
    ]


def _pod_stages(speed: float) -> list[dict[str, Any]]:
    start_milliseconds = round(Latencies(speed=speed).seconds("containerStart") * 1000)
    return [
        _stage(
            "pod-ready",
            "Pod",
            [
                {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
                # Running too: a pod that the node lifecycle controller called unready comes back, as with a kubelet.
                {"key": ".status.phase", "operator": "In", "values": ["Pending", "Running"]},
                {
                    "key": '.status.conditions.[] | select( .type == "Ready" ) | .status',
                    "operator": "NotIn",
                    "values": ["True"],
                },
                *_not_driven(),
            ],
            {"statusTemplate": _POD_RUNNING},
            milliseconds=start_milliseconds,
        ),
        _stage(
            "pod-delete",
            "Pod",
            [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}, *_not_driven()],
            {"delete": True},
        ),
    ]


def _stage(
    name: str, kind: str, selector: list[dict[str, Any]], step: dict[str, Any], *, milliseconds: int = 0
) -> dict[str, Any]:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": selector},
            "delay": {"durationMilliseconds": milliseconds},
            "next": step,
        },
    }


def _node_ready(operator: str) -> dict[str, Any]:
    key = '.status.conditions.[] | select( .type == "Ready" ) | .status'
    return {"key": key, "operator": operator, "values": ["True"]}


def _not_driven() -> list[dict[str, Any]]:
    """Expressions that hold for a pod which no behaviour, Job or second network gives to the machines process."""
    keys = [_labels_match(behaviour) for behaviour in behaviours().values()]
    keys.append('any(.metadata.ownerReferences[]?; .kind == "Job" and (.apiVersion | startswith("batch/")))')
    attached = {"key": f'.metadata.annotations["{NETWORKS_ANNOTATION}"]', "operator": "DoesNotExist"}
    return [attached, *({"key": key, "operator": "NotIn", "values": ["true"]} for key in keys)]


def _labels_match(behaviour: Behaviour) -> str:
    terms = [_label_matches(json.dumps(key), value) for key, value in behaviour.labels.items()]
    return f"(.metadata.labels // {{}}) | {' and '.join(terms)}"


def _label_matches(key: str, value: str) -> str:
    if value == ANY:
        return f"has({key})"
    if value.endswith(ANY):
        return f'((.[{key}] // "") | startswith({json.dumps(value.removesuffix(ANY))}))'
    return f".[{key}] == {json.dumps(value)}"
