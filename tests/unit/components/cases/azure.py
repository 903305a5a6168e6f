"""Requests to Azure, its errors, and kubeconfigs."""

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pulumi
import yaml
from aks_infiniband.access.kubeconfig import KubeconfigError, decode
from aks_infiniband.access.kubeconfig_file import read_kubeconfig
from aks_infiniband.azure import read_back
from aks_infiniband.azure.machines import Autoscale, Machines, OrdinaryPool
from aks_infiniband.azure.node_pool import InfinibandNodePoolArgs, OrdinaryNodePoolArgs
from aks_infiniband.diagnosis.azure import explanation, is_transient, pause_before_retry

from tests.cases import Case, patched
from tests.some_pools import pool
from tests.unit.components.cases.pools import arguments, differing
from tests.unit.components.pools_in_azure import in_azure, infiniband, ordinary

_GROUP: Final = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g/providers"
NODES: Final = f"{_GROUP}/Microsoft.Network/virtualNetworks/v/subnets/nodes"


def outcome_of_agent(case: Case) -> Any:
    """An agent pool as Azure is requested to make it: with a `pool` of InfiniBand, or an `ordinary` one. `machines` and
    `with` have the properties of its machines and further arguments.
    """
    usual: dict[str, Any] = {"ordinary": {}} if "ordinary" in case else {}
    return differing(lambda chosen: _agent({**usual, **chosen}), case, *(["ordinary"] if case == usual else []))


def _agent(case: Case) -> Any:
    place: dict[str, Any] = {"resource_group_name": "g", "cluster_name": "c", "subnet_id": NODES}
    place |= case.get("with", {})
    try:
        if "ordinary" in case:
            usual = {"name": "web", "count": 3, "vm_size": "Standard_D8s_v5"}
            web = OrdinaryPool(**{**usual, **arguments(case["ordinary"])})
            return read_back.asked(OrdinaryNodePoolArgs(pool=web, **place))
        described = pool(**arguments(case.get("pool", {})))
        machines = Machines(**_machines(case.get("machines", {})))
        return read_back.asked(InfinibandNodePoolArgs(pool=described, machines=machines, **place))
    except ValueError as error:
        return {"refused": str(error).partition(" [type=")[0]}


def _machines(properties: Case) -> dict[str, Any]:
    read = arguments(properties)
    return {**read, "autoscale": Autoscale(**read["autoscale"])} if "autoscale" in read else read


def outcome_of_errors(case: Case) -> dict[str, Any]:
    """The words on an error of Azure, and the first pause before another try, by operation."""
    message = case["message"]
    pauses = {kind: pause_before_retry([message], kind, share=1) for kind in ("create", "update", "delete")}
    inputs = {"agentPoolName": "hb", "vmSize": "Standard_HB176rs_v4"}
    named: Any = {"urn": "urn", "id": "id", "name": "rdma-hb", "type": "t"}
    args = pulumi.ErrorHookArgs(**named, errors=[message], failed_operation="create", new_inputs=inputs)
    known = {kind: pause for kind, pause in pauses.items() if pause is not None}
    return {**({"pauses": known} if known else {}), "passes": is_transient(message), "said": explanation(args)}


def outcome_of_readback(case: Case) -> Any:
    """A pool that this program made, as Azure has it, with `shown` in addition: its keys in a stack file, differences
    from what the program requests, and properties without a key. Pools of InfiniBand differ by `pool`, others by
    `ordinary`.
    """
    usual: dict[str, Any] = {"ordinary": {}} if "ordinary" in case else {}
    return differing(lambda chosen: _read_back({**usual, **chosen}), case, *(["ordinary"] if case == usual else []))


def _read_back(case: Case) -> dict[str, Any]:
    other = "ordinary" in case
    args: Any = ordinary(**arguments(case["ordinary"])) if other else infiniband(**case.get("pool", {}))
    asked = read_back.asked(args)
    shown = in_azure(args, **case.get("shown", {}))
    differences = list(read_back.differences(shown, asked))
    said = {
        "keys": read_back.keys_of(shown),
        "replaced for": [str(each) for each in differences if each.replaces],
        "changed in place": [str(each) for each in differences if not each.replaces],
        "without a key": list(read_back.beyond(shown, args)),
    }
    return {what: value for what, value in said.items() if value}


KUBELOGIN: Final = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "kubelogin"}
KUBECONFIG: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Config",
    "current-context": "capi",
    "clusters": [
        {"name": "capi", "cluster": {"server": "https://capi.example:6443", "proxy-url": "http://proxy:3128"}},
        {"name": "other", "cluster": {"server": "https://other"}},
    ],
    "contexts": [
        {"name": "capi", "context": {"cluster": "capi", "user": "admin"}},
        {"name": "other", "context": {"cluster": "other", "user": "plugin"}},
        {"name": "broken", "context": {"cluster": "capi", "user": "nobody"}},
    ],
    "users": [
        {"name": "admin", "user": {"token": "t0ken"}},
        {"name": "plugin", "user": {"exec": {**KUBELOGIN, "args": ["get-token", "-l", "azurecli"]}}},
    ],
}
"""The kubeconfig of two clusters, which others made."""


def outcome_of_kubeconfig(case: Case) -> Any:
    """The context of a kubeconfig with a `change`, or with another `text`, as the program hands it on; or the error."""
    text = case.get("text") or yaml.safe_dump(patched(KUBECONFIG, case.get("change", {})))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kubeconfig"
        path.write_text(text, encoding="utf-8")
        try:
            read = read_kubeconfig(str(path), context=case.get("context"))
        except KubeconfigError as error:
            return {"refused": str(error).replace(folder, "{folder}")}
        return {"context": read.context, "server": read.server, "kubeconfig": yaml.safe_load(read.kubeconfig)}


def outcome_of_login(case: Case) -> str:
    """The error for the kubeconfig of Azure with a `user`; nothing if the program logs in without a person."""
    document = json.dumps({"users": [{"name": "clusterUser", "user": case["user"]}]})
    try:
        decode(base64.b64encode(document.encode()).decode())
    except KubeconfigError as error:
        return str(error)
    return ""


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "agent": outcome_of_agent,
    "errors": outcome_of_errors,
    "readback": outcome_of_readback,
    "kubeconfig": outcome_of_kubeconfig,
    "login": outcome_of_login,
}
"""By the first word of a file's name, what gives the outcome of a case."""
