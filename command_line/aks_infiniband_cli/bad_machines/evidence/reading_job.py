"""The Job that reads a machine."""

import secrets
from importlib import resources
from typing import Any, Final

from aks_infiniband.handwritten import HandwrittenError, json_document
from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation.validation_job import METADATA
from lightkube import Client
from pydantic import Field

from aks_infiniband_cli.bad_machines.evidence.node_job import job_on, run_job
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed

_HOST: Final = "/host"
_SECONDS: Final = 180
_SHOWN: Final = 200
"""Characters of what a pod said, in an error."""


def job_of(node: str, validation: Deployed, token: str) -> dict[str, Any]:
    """The Job, with the image that waits for nodes in the pool's validation: it has Python.

    Its pod is privileged, and sees the machine's files without being able to change them: the kernel's log and
    nvidia-smi require that. The pod is on the machine's network, because a cluster may keep instance metadata from
    pods. The pod requests no device, so it runs together with all other pods of the node.
    """
    (awaiting,) = validation.template["spec"]["initContainers"]
    return job_on(
        node,
        validation,
        name=f"evidence-{token}",
        labels={**labels("evidence", "read"), "app.kubernetes.io/managed-by": "aks-infiniband-evidence"},
        pod={
            "hostNetwork": True,
            "terminationGracePeriodSeconds": 1,
            "volumes": [{"name": "machine", "hostPath": {"path": "/"}}],
            "containers": [_container(awaiting["image"])],
        },
        seconds=_SECONDS,
    )


def _container(image: str) -> dict[str, Any]:
    program = resources.files(__package__).joinpath("on_node.py").read_text(encoding="utf-8")
    return {
        "name": "evidence",
        "image": image,
        "command": ["python3", "-c", program],
        "args": [_HOST, METADATA],
        "securityContext": {"privileged": True, "readOnlyRootFilesystem": True},
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [
            {"name": "machine", "mountPath": _HOST, "readOnly": True, "mountPropagation": "HostToContainer"}
        ],
    }


class _Hca(Form):
    device: str
    firmware: str | None
    board: str | None
    node_guid: str | None
    serial_number: str | None
    state: str | None
    rate: str | None
    counters: dict[str, int]


class _Gpu(Form):
    index: str
    name: str
    serial: str
    uuid: str
    bus_id: str = Field(alias="pci.bus_id")
    vbios_version: str
    driver_version: str


class _KernelLine(Form):
    time: str
    line: str


class _Said(Form):
    """The output of on_node."""

    physical_host_name: str | None = None
    metadata: dict[str, str] = Field(default_factory=dict)
    drivers: dict[str, str] = Field(default_factory=dict)
    hcas: list[_Hca] = Field(default_factory=list)
    gpus: list[_Gpu] = Field(default_factory=list)
    kernel: list[_KernelLine] = Field(default_factory=list)


def ask(client: Client, node: str, validation: Deployed) -> dict[str, Any]:
    """The machine's facts about itself. Raises CommandError if the pod has not said it, and NO_ANSWER."""
    ended = run_job(client, job_of(node, validation, secrets.token_hex(4)))
    try:
        return parts_of(json_document(ended.said))
    except HandwrittenError:
        told = f"its pod has told nothing: {ended.why or 'it has said nothing'}; {ended.said.strip()[-_SHOWN:]}"
        raise CommandError(told.rstrip("; ")) from None


def parts_of(said: Any) -> dict[str, Any]:
    """Each part of what a machine says that has its form; the others are named as `not_read`.

    Raises HandwrittenError for a value that is not a mapping.
    """
    if not isinstance(said, dict):
        raise HandwrittenError("must be a mapping")
    parts: dict[str, Any] = {"not_read": []}
    for name in _Said.model_fields:
        try:
            part = formed(_Said, {name: said[name]} if name in said else {})
            parts[name] = part.model_dump(by_alias=True)[name]
        except HandwrittenError as error:
            parts["not_read"].append(f"of the machine, {error.at_its_place()}")
    return parts
