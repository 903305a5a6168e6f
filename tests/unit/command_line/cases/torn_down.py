"""The leftovers of a stack in Azure and in a cluster, as `teardown` names them."""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from unittest import mock
from urllib.parse import parse_qs

import yaml
from aks_infiniband.access.kubeconfig_file import KubeconfigFile
from aks_infiniband.stack import stack
from aks_infiniband_cli.azure.answers import Group
from aks_infiniband_cli.main import main
from aks_infiniband_cli.teardown.left import cluster_in, groups_of, in_azure, in_cluster, stack_in
from aks_infiniband_cli.teardown.leftovers import find_leftovers

from tests.cases import Case
from tests.unit.command_line.cases.preflights import shortened, stack_in_azure
from tests.unit.command_line.loopback import kubeconfig, serving
from tests.unit.components.stack_files import existing, pool

_CLUSTER: Final = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c"
_KINDS: Final = ("namespaces", "nodes", "definitions", "customs", "ours")


def outcome_of_leftovers(case: Case) -> dict[str, Any]:
    """The signs of a stack that lives, and each leftover with the command that removes it. `groups` have resources of
    Azure by the group's name; the other keys have objects of a cluster.
    """
    groups = [Group(name=name, managed_by="", resources=tuple(ids)) for name, ids in case.get("groups", {}).items()]
    objects: dict[str, Any] = {kind: case.get(kind, []) for kind in _KINDS}
    left = [*in_azure(groups, "s"), *in_cluster(**objects, kept=case.get("kept", ()))]
    lives = cluster_in(groups, _CLUSTER) or stack_in(objects["namespaces"], objects["customs"])
    return {"lives": lives, "left": {orphan.what: orphan.remedy for orphan in left}}


def outcome_of_group(case: Case) -> str:
    """The owner of a resource group: the stack of cluster c, or another."""
    group = Group(name=case["name"], managed_by=case.get("managed_by", ""))
    node_group = case.get("node_group")
    known = groups_of([group], cluster_id=_CLUSTER, location="eastus", node_group=node_group)
    return "the stack" if known == [group] else "another"


def outcome_of_teardown(case: Case) -> Any:
    """The exit code of the command, and its document, its text, or why it has none. The stack and Azure are those of a
    preflight.
    """
    out, err = StringIO(), StringIO()
    with stack_in_azure(case) as (_, file, endpoint), redirect_stdout(out), redirect_stderr(err):
        flags = ["--endpoint", endpoint, "-s", "dev", "--folder", str(file.parent)]
        code = main(["teardown", *flags, "--output", case.get("output", "json")])
    document = json.loads(out.getvalue()) if code < 2 and "output" not in case else {}
    left = {orphan["what"]: orphan["remedy"] for orphan in document.get("left", ())}
    shown = {
        "lives": document.get("lives"),
        "left": left,
        "text": "" if document else f"{out.getvalue()}{err.getvalue()}",
    }
    return shortened({"code": code, **{key: value for key, value in shown.items() if value}}, file.parent)


def outcome_of_destroyed(case: Case) -> dict[str, Any]:
    """The signs of a stack in an existing cluster, and each leftover with its command. `lists` has the objects of an
    API server by their path; the owner of the cluster keeps the labels `kept`, and the operators that are `theirs`.
    """

    def answer(path: str, query: str, *_: Any) -> tuple[int, Any, dict[str, str]]:
        wanted = {tuple(label.split("=")) for label in parse_qs(query).get("labelSelector", [])}
        items = [
            each for each in case["lists"].get(path, []) if wanted <= (each["metadata"].get("labels") or {}).items()
        ]
        return 200, {"metadata": {}, "items": items}, {}

    selector = dict.fromkeys(case.get("kept", ["pool"]), "a")
    theirs = {operator: {"existing": True} for operator in case.get("theirs", ())}
    usual: dict[str, Any] = {"networkOperator": {"valuesFile": None}, "gpuOperator": {"valuesFile": None}}
    sections = existing(pool(nodeSelector=selector), **{**usual, **theirs})
    with TemporaryDirectory() as folder, serving(answer) as url:
        there = KubeconfigFile(kubeconfig=kubeconfig(url), context="c", server="https://lab.example.com")
        (file := Path(folder) / "Pulumi.dev.yaml").write_text(yaml.safe_dump({"config": sections}))
        with mock.patch.object(stack, "read_kubeconfig", return_value=there):
            found = find_leftovers(file, None, None)
    return {"lives": found.lives, "left": {orphan.what: orphan.remedy for orphan in found.left}}
