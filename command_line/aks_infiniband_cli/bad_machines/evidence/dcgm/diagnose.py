"""Gets a second opinion from the DCGM of a node. Every error is reported, and fails nothing."""

import secrets
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lightkube import Client

from aks_infiniband_cli.bad_machines.evidence.dcgm.asking import HostEngine, command_of, engine_on, has_gpus, job_of
from aks_infiniband_cli.bad_machines.evidence.dcgm.reader import DiagnosticsError, diagnosis_of
from aks_infiniband_cli.bad_machines.evidence.node_job import run_job
from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import note
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import name_of


def diagnosed(
    client: Client, node: Object, pods: Sequence[Object], validation: Deployed, operators: Collection[str]
) -> dict[str, Any] | None:
    """DCGM's diagnosis of a node's GPUs, as `diagnosis_of` has it, with `pod`, `command` and `promised`, the number of
    GPUs that the pool counts on; or `not_asked` or `failed`, which say why it said nothing. None without NVIDIA's GPUs.

    pods: of all namespaces. operators: their namespaces.
    """
    if not has_gpus(node, validation):
        return None
    engine = engine_on(name_of(node), pods, operators)
    if isinstance(engine, str):
        return {"not_asked": engine}
    note(f"node {name_of(node)}: DCGM diagnoses its GPUs, which takes some minutes")
    promised = int(validation.resources.get("nvidia.com/gpu", 0))
    asked = {"pod": engine.pod, "command": " ".join(command_of(engine)), "promised": promised}
    try:
        return {**asked, **_answer(client, node, engine, validation)}
    except (DiagnosticsError, *NO_ANSWER) as error:
        return {**asked, "failed": str(error)}


def _answer(client: Client, node: Object, engine: HostEngine, validation: Deployed) -> Mapping[str, Any]:
    """Raises DiagnosticsError, NO_ANSWER."""
    ended = run_job(client, job_of(node, engine, validation, secrets.token_hex(4)))
    try:
        return diagnosis_of(ended.said)
    except DiagnosticsError as error:
        raise DiagnosticsError(f"{error}{f' ({ended.why})' if ended.why else ''}") from None
