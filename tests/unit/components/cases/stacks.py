"""The declarations of stack files, each as it differs from the usual one."""

import copy
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import pulumi
from aks_infiniband import SIZES, RdmaCluster, RdmaClusterArgs, Stack, load
from aks_infiniband.facts.catalog.machine import keeps_gpu_operator_off
from aks_infiniband.facts.releases import OPERATOR_RELEASES
from aks_infiniband_cli.preflight import chart_images

from declared.program import requests_of
from declared.recording import document, label
from tests.cases import Case, changes, patched, plain
from tests.some_pools import H100, HBV4, MI300X
from tests.unit.settings.cases import configuration

_USUAL: Final[dict[str, Any]] = {
    "azure-native:location": "southcentralus",
    "cluster": {"kubernetesVersion": "1.35"},
    "pools": [{"name": "hx", "vmSize": "Standard_HX176rs", "count": 2}],
    "networkOperator": {"valuesFile": None},
    "gpuOperator": {"valuesFile": None},
}
"""A stack with one pool without GPUs."""
_LONG: Final = {"kubernetesVersion": "1.35", "supportPlan": "AKSLongTermSupport"}


def outcome_of_stack(case: Case) -> dict[str, Any]:
    """The names of resources that the usual stack does not have, or that only the usual stack has, and the changes of
    the others. `stack` has the changes of the file, `shows` the types of resources to which the outcome is limited:
    new ones of these are whole. Outputs count only if they are named. `credentials` is true if images are pulled with
    a login.
    """
    usual, declared = _chosen(_usual(), case), _chosen(_declared(case), case)
    shown = {
        "more": sorted(declared.keys() - usual.keys()),
        "fewer": sorted(usual.keys() - declared.keys()),
        "changed": changes(usual, {name: declared.get(name, usual[name]) for name in usual}),
    }
    if "shows" in case:
        shown["more"] = {name: declared[name] for name in declared if name not in usual}
    return {kind: value for kind, value in shown.items() if value}


def _chosen(resources: Mapping[str, Any], case: Case) -> dict[str, Any]:
    kinds = case.get("shows", {name.partition(" ")[0] for name in resources} - {"outputs"})
    return {name: about for name, about in resources.items() if name.partition(" ")[0] in kinds}


@cache
def _usual() -> dict[str, Any]:
    return _declared({})


def _declared(case: Case) -> dict[str, Any]:
    configuration = _configuration(patched(copy.deepcopy(_USUAL), case.get("stack", {})))

    def program() -> None:
        credentials = pulumi.Output.secret("{}") if case.get("credentials") else None
        made = RdmaCluster("rdma", args=RdmaClusterArgs(stack=load(configuration, credentials=credentials)))
        pulumi.export("pods", {"templates": made.pod_templates, "sample jobs": made.sample_jobs})

    declared = document(requests_of(program, configuration))
    resources = {
        _short(each["urn"]): {key: each[key] for key in each if key != "urn"} for each in declared["resources"]
    }
    return dict(_shortened({**resources, "outputs": declared["outputs"]}))


def _configuration(stack: Mapping[str, Any]) -> dict[str, Any]:
    return {key if ":" in key else f"aks-infiniband:{key}": value for key, value in stack.items()}


def _shortened(value: Any) -> Any:
    """Programs and tables of figures are cut."""
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return f"{value[:60]}…" if isinstance(value, str) and len(value) > 250 else value


def _short(urn: str) -> str:
    kind, _, name = label(urn).partition("::")
    return f"{kind.rpartition(':')[2]} {name}"


def outcome_of_revalidated(case: Case) -> dict[str, Any]:
    """By pool, what changes of the facts on which its measurement depends, from the usual stack of three pools to one
    with the changes in `stack`.
    """
    before, after = _facts({}), _facts(case)
    moved = {pool: changes(facts, plain(after[pool])) for pool, facts in plain(before).items() if pool in after}
    return {pool: change for pool, change in moved.items() if change}


def _facts(case: Case) -> Mapping[str, Any]:
    pools = [
        {"name": "nd", "vmSize": H100, "count": 2},
        {"name": "hb", "vmSize": HBV4, "count": 2, "mode": "ipoib", "taints": ["sku=hpc:NoSchedule"]},
        {"name": "nda", "vmSize": MI300X, "count": 2, "gpuDriver": "operator"},
    ]
    amd = {"driverImage": "myregistry.azurecr.io/amd/amdgpu-kmod"}
    usual = {**_USUAL, "cluster": _LONG, "pools": pools, "amdGpuOperator": amd}
    return load(_configuration(patched(copy.deepcopy(usual), case.get("stack", {})))).revalidate_when


_ASKED: Final[Mapping[str, Callable[[Stack], Any]]] = {
    "driver image": chart_images.gpu_driver,
    "charts not known": lambda stack: [line.check for line in chart_images.not_known(stack)],
}


def outcome_of_loaded(case: Case) -> dict[str, Any]:
    """A stack file as it is loaded. `shows` has paths of attributes from the stack on; of a list each item is shown,
    or the one of a number. `stack` and `without` differ from the good stack of the settings' tests.
    """
    loaded = load(configuration(case))
    return {path: _ASKED[path](loaded) if path in _ASKED else _at(loaded, path.split(".")) for path in case["shows"]}


def _at(value: Any, path: list[str]) -> Any:
    if not path:
        return value if isinstance(value, bool | int | float | list | tuple | Mapping) or value is None else str(value)
    first, *rest = path
    if isinstance(value, list | tuple):
        return _at(value[int(first)], rest) if first.isdigit() else [_at(item, path) for item in value]
    return _at(value[first] if isinstance(value, Mapping) else getattr(value, first), rest)


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "stack": outcome_of_stack,
    "revalidated": outcome_of_revalidated,
    "loaded": outcome_of_loaded,
    "unnamed": lambda case: {name: release.unnamed(case["kubernetes"]) for name, release in OPERATOR_RELEASES.items()},
    "untouched": lambda case: keeps_gpu_operator_off(case["owner"], SIZES.get(case["size"]), case["size"]),
}
"""By the first word of a file's name, what gives the outcome of a case."""
