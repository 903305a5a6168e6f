"""The kinds of cases on what a rehearsal makes of a stack's configuration and its state, and on what it refuses."""

import base64
import contextlib
import gzip
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest import mock

from aks_infiniband.facts.catalog import SIZES

from rehearsal.azure.node_images import newest_release
from rehearsal.azure.node_parts import MACHINE_ANNOTATION
from rehearsal.azure.subscription import load
from rehearsal.cli import command as cli
from rehearsal.control_plane import RunFolder
from rehearsal.engine.events import Step
from rehearsal.outcome.reports import Known, reports_of
from rehearsal.outcome.result import result
from rehearsal.run.sizes import describe_sizes, known_sizes
from rehearsal.session import Rehearsal
from rehearsal.stack import existing_nodes, pending, pending_releases
from rehearsal.stack.stack_file import StackFileError
from rehearsal.tools.paths import PROJECT
from tests.cases import Case, changes, patched, refusing, replaced
from tests.simulator.unit.command.cases.files import settings

POOL: Final[Case] = {
    "name": "ndh100",
    "vmSize": "Standard_ND96isr_H100_v5",
    "count": 2,
    "nodeSelector": {"example.com/fabric": "a"},
    "taints": ["sku=gpu:NoSchedule"],
}
_DESCRIBED: Final[Case] = {
    "vcpus": 12,
    "memoryGib": 34,
    "series": "ND_X",
    "infiniband": {"hcaCount": 2, "generation": "NDR", "adapter": "ConnectX-7"},
}
_FILES: Final = {"Pulumi.yaml": "name: mine\nruntime: python\n", "Pulumi.dev.yaml": "config: {}"}
_URN: Final = "urn:pulumi:dev::p"


def nodes(case: Case) -> dict[str, Any]:
    """The nodes of an existing cluster, by their names; a mapping among the pools is a change of the usual one."""
    pools = case.get("pools", [{}])
    if isinstance(pools, list):
        pools = [patched(POOL, pool) if isinstance(pool, dict) else pool for pool in pools]
    config = settings({"existingCluster": case.get("existingCluster", {}), "pools": pools})
    if case.get("text"):
        config = {name: json.dumps(value) for name, value in config.items()}
    made = {}
    for node in existing_nodes.nodes(config, {**load().sizes, **SIZES}, kubelet_version="v1.36.3"):
        annotations = node["metadata"].pop("annotations")
        made[node["metadata"]["name"]] = node | {"machine": json.loads(annotations[MACHINE_ANNOTATION])}
    document: dict[str, Any] = replaced(made, newest_release(datetime.now(tz=UTC).date()), "NEWEST")
    return document


@cache
def usual_nodes() -> dict[str, Any]:
    """The nodes of an existing cluster with the usual pool."""
    return nodes({})


def existing(case: Case) -> Any:
    """The difference of an existing cluster's nodes from the usual ones; all of those, if nothing differs."""
    return changes(usual_nodes(), nodes(case)) if case else usual_nodes()


def sizes(case: Case) -> Any:
    """The sizes beyond the catalogue's, after each of the descriptions. A mapping is a change of the usual one."""
    with tempfile.TemporaryDirectory() as folder:
        after = []
        for described in case["described"]:
            given = {
                k: patched(_DESCRIBED, value) if isinstance(value, dict) else value for k, value in described.items()
            }
            describe_sizes(Path(folder), given)
            known = known_sizes(Path(folder))
            assert set(SIZES) <= set(known)
            new = {name: size for name, size in known.items() if name not in SIZES}
            after.append({name: f"{size.infiniband.hca_count} HCAs, {size.vcpus} vCPUs" for name, size in new.items()})
        return after


def settlement(case: Case) -> Any:
    """The work that was under way in the state of a killed engine, and the state with what Azure has of it."""

    def resource(fields: dict[str, Any]) -> dict[str, Any]:
        given = dict(fields)
        return {"urn": f"{_URN}::{fields['type']}::{given.pop('name')}", **given}

    deployment: dict[str, Any] = {}
    if "resources" in case:
        deployment["resources"] = [resource(fields) for fields in case["resources"]]
    if "operations" in case:
        operations = [operation.items() for operation in case["operations"]]
        deployment["pending_operations"] = [
            {"type": verb, "resource": resource(fields)} for ((verb, fields),) in operations
        ]
    with tempfile.TemporaryDirectory() as folder:
        azure = Path(folder, "state.json")
        held = [{"id": resource_id, "pulumi_type": kind} for resource_id, kind in case.get("azure", {}).items()]
        azure.write_text(json.dumps({"resources": held}))
        return {
            "settled": pending.settled(deployment, azure),
            "creates": len(list(pending.pending_creates(deployment))),
            "deletes": list(pending.pending_deletes(deployment)),
            "releases": list(pending_releases.pending_releases(deployment)),
        }


def results(case: Case) -> Any:
    """A rehearsal's result for other programs; `state` has the reports that an engine's state keeps."""
    packed = [gzip.compress(json.dumps(report).encode()) for report in case.get("state", ())]
    stash = [{"type": "pulumi:index:Stash", "outputs": {"output": base64.b64encode(each).decode()}} for each in packed]
    others = [{"type": "kubernetes:core/v1:Secret", "outputs": {}}, {"type": "pulumi:index:Stash"}]
    reports = reports_of(case.get("outputs", {}), {"resources": [*others, *stash]} if "state" in case else {})
    known = Known(measured=reports, before=case.get("before", {}))
    steps = [Step(operation="create", begun=101.0, ended=103.5, custom=True, **step) for step in case.get("steps", ())]
    status = case.get("status", "succeeded")
    outputs = case.get("outputs", {})
    return result(stack="dev", status=status, begun=100.0, ended=110.25, steps=steps, outputs=outputs, known=known)


def command(case: Case) -> Any:
    """Status and last line of a command in a project with a case's files, which are in Latin-1, and what it made."""
    with tempfile.TemporaryDirectory() as folder, mock.patch("signal.signal"):
        for name, text in {**_FILES, **case.get("files", {})}.items():
            Path(folder, name).write_bytes(text.encode("latin-1"))
        there, said = set(Path(folder).iterdir()), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                status: Any = cli.main(["--project", folder, *case["line"].split()])
            except SystemExit as left:
                status = left.code
        made = sorted(path.name for path in set(Path(folder).iterdir()) - there)
        last = said.getvalue().splitlines()[-1].replace(folder, "PROJECT").replace(str(Path.cwd()), "HERE")
        return {"status": status, "says": last, "made": made}


def real_tools(case: Case) -> str:
    """The refusal of a rehearsal of one of this project's stacks with real tools."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "faults.yaml")
        file.write_text("faults: []\n")
        Rehearsal(
            project=PROJECT,
            stack=case["stack"],
            run=RunFolder.at(Path(folder, "run")),
            real_tools=True,
            faults=file if case.get("faults") else None,
            clusters=case.get("clusters", 1),
        ).check_files()
    return "taken"


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "existing": existing,
    "sizes": sizes,
    "pending": settlement,
    "result": results,
    "command": command,
    "tools": refusing(real_tools, StackFileError),
}
"""By the first word of a file's name, what gives the outcome of a case."""
