"""Every setting, moved off its default to a legal value, changes a request to the engine.

The settings come from the model, and so do the values. Only the stacks in which a setting may stand are written here: a
setting that none of them takes, or that reaches nothing, fails by its name.
"""

import base64
import copy
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from aks_infiniband import RdmaCluster, RdmaClusterArgs, SettingsError, load
from aks_infiniband.operators import existing_gpu_operator, existing_network_operator
from aks_infiniband.operators.nic_policy import POLICY_NAME
from aks_infiniband.stack.settings.mistakes import model_in
from aks_infiniband.stack.settings.model import Settings
from pydantic import BaseModel

from declared.pulumi_mocks import Deploy
from tests.unit.components.stack_files import KUBECONFIG, NODE_SUBNET
from tests.unit.settings.families import OWN_SIZE, home
from tests.unit.settings.legal_values import legal_values

PROJECT = Path(__file__).parents[3]
TWO_CONTEXTS = Path(__file__).with_name("files") / "kubeconfig.yaml"
GROUP = "01234567-89ab-cdef-0123-456789abcdef"
Place = tuple[str | int, ...]
Configuration = dict[str, Any]


def stack(name: str, **sections: Any) -> Configuration:
    """One of the project's stack files, and further keys of its sections. A list replaces a list."""
    found: Configuration = yaml.safe_load((PROJECT / f"Pulumi.{name}.yaml").read_text())["config"]
    if "aks-infiniband:existingCluster" in found:
        sections = {"existingCluster": {"kubeconfig": str(KUBECONFIG)}, **sections}
    for section, value in sections.items():
        key = f"aks-infiniband:{section}"
        found[key] = {**found.get(key, {}), **value} if isinstance(value, dict) else value
    return found


def pools(*more: Mapping[str, Any]) -> list[dict[str, Any]]:
    usual = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2}
    return [{**usual, **keys} for keys in more]


def slower(configuration: Configuration) -> Configuration:
    """With a pool of the described size, whose links are not the fastest that its adapter has."""
    size = configuration["aks-infiniband:sizes"][OWN_SIZE]
    size["infiniband"] = {**size["infiniband"], "generation": "HDR"}
    return {**configuration, "aks-infiniband:pools": pools({"vmSize": OWN_SIZE})}


STACKS: Final[Mapping[str, Configuration]] = {
    **{name: stack(name) for name in ("dev", "ipoib", "mixed", "dra", "sriov", "gb300", "mi300x", "existing")},
    "idle nodes that are checked": stack("dev", lightCheck={"schedule": "17 * * * *"}),
    "nodes that are measured first": stack(
        "dev", lightCheck={"schedule": "17 * * * *"}, pools=pools({"admission": "measured"})
    ),
    "in an existing subnet": stack("dev", cluster={"network": {"nodeSubnetId": NODE_SUBNET}}),
    "with Entra ID": stack("dev", cluster={"access": {"entraId": True, "adminGroupObjectIds": [GROUP]}}),
    "GPUs by peermem": stack("dev", pools=pools({})),
    "a pool of GPUs that AKS drives": stack("dev", pools=pools({"gpuDriver": "aks"})),
    "with every section": home(in_existing=False),
    "a described size": slower(home(in_existing=False)),
    "GPUs that the image drives": stack(
        "gb300", pools=pools({"vmSize": "Standard_ND128isr_GB300_v6", "gpuDriver": "image"})
    ),
    "IPoIB on several rails": stack("dev", networkOperator={"mode": "ipoib"}),
    "a described size by SR-IOV": {
        **slower(home(in_existing=False)),
        "aks-infiniband:networkOperator": {"mode": "sriov"},
    },
    "workloads in a namespace of their own": stack("dev", workload={"namespaces": ["jobs"]}),
    "a driver of AMD's in an existing cluster": stack(
        "existing",
        pools=pools(
            {
                "vmSize": "Standard_ND96isr_MI300X_v5",
                "gpuDriver": "operator",
                "nodeSelector": {"example.com/fabric": "a"},
            }
        ),
        amdGpuOperator={"driverImage": "myregistry.azurecr.io/amd/amdgpu-kmod"},
    ),
    "an autoscaled pool": stack("dev", pools=pools({"count": 3, "autoscale": {"minCount": 2, "maxCount": 4}})),
    "a cluster of two contexts": stack("existing", existingCluster={"kubeconfig": str(TWO_CONTEXTS)}),
    "in an existing cluster with every section": home(in_existing=True),
    "a pool behind the cluster": stack(
        "dev", cluster={"kubernetesVersion": "1.36"}, pools=pools({"kubernetesVersion": "1.35"})
    ),
}
"""Stacks in which settings stand. Each is tried in order."""


def settings(model: type[BaseModel] = Settings, place: Place = ()) -> Iterator[tuple[type[BaseModel], str, Place]]:
    """Every field of every section: its model, its name in it, and its place in a stack file; * is any item."""
    for name, field in model.model_fields.items():
        here = (*place, field.alias or name)
        inner = model_in(field.annotation)
        if inner is None:
            yield model, name, here
        else:
            yield from settings(
                inner, (*here, *(("*",) if here[-1] in ("pools", "sizes", "thresholds", "nodePools") else ()))
            )


def places(configuration: Configuration, place: Place) -> Iterator[Place]:
    """The places in a stack file that a setting's place stands for. Sections on the way need not be there."""
    found: list[Place] = [()]
    for part in place:
        step: list[Place] = []
        for before in found:
            if part != "*":
                step.append((*before, part))
            elif (held := _at(configuration, before)) is not None:
                step += [(*before, key) for key in (range(len(held)) if isinstance(held, list) else held)]
        found = step
    yield from found


def _key(section: str | int) -> str:
    return "azure-native:location" if section == "location" else f"aks-infiniband:{section}"


def _at(configuration: Any, place: Place) -> Any:
    found = configuration.get(_key(place[0]))
    for part in place[1:]:
        if found is None:
            return None
        found = found.get(part) if isinstance(found, dict) else found[part]
    return found


def changed(configuration: Configuration, place: Place, value: Any) -> Configuration:
    """The stack file with a value at a place."""
    found = copy.deepcopy(configuration)
    if len(place) == 1:
        found[_key(place[0])] = value
        return found
    held = found.setdefault(_key(place[0]), {})
    for part in place[1:-1]:
        held = held[part] if isinstance(part, int) else held.setdefault(part, {})
    held[place[-1]] = value
    return found


def variants(model: type[BaseModel], name: str, place: Place) -> Iterator[tuple[str, Configuration | None]]:
    """The name of a stack, and its file with a legal value of a setting that it does not have already; None in place of
    one that is resolved to the very same stack, so that it need not run.
    """
    for title, configuration in STACKS.items():
        for here in places(configuration, place):
            found = (changed(configuration, here, value) for value in legal_values(model, name))
            legal = ((variant, _loaded(variant)) for variant in found if variant != configuration)
            for variant, resolved in islice((each for each in legal if each[1] is not None), MOST_VALUES):
                yield title, None if resolved == _loaded(configuration) else variant


def _loaded(configuration: Configuration) -> Any:
    """The result of a stack; None for a file that is refused. The section of an operator that is not installed comes to
    nothing.
    """
    try:
        stack = load(configuration)
    except SettingsError:
        return None
    sections = {name: getattr(stack.settings, name) for name in type(stack.settings).model_fields}
    operators = {"amd_gpu_operator": stack.operators.amd, "cert_manager": stack.operators.cert_manager}
    operators |= {"dra_driver": stack.operators.dra}
    return {name: section for name, section in sections.items() if operators.get(name, section) is not None}


def _in_order(request: dict[str, Any]) -> dict[str, Any]:
    """A request without what differs from run to run: its place in the source, and the order of what it waits for."""
    waits = {
        "dependencies": sorted(request.get("dependencies", [])),
        "propertyDependencies": {
            key: sorted(value.get("urns", [])) for key, value in request.get("propertyDependencies", {}).items()
        },
    }
    return {**request, **waits, "sourcePosition": None, "stackTrace": None}


SETTINGS = list(settings())
NOT_BY_ITSELF: Final = {
    "preflight": "`up` looks before it asks the engine for anything",
    "workload.registryCredentials": "only with the secret `registryCredentials`, which is no setting",
    "cluster.placementGroupLimit": "a rule reads it; the count that it allows is asked for",
    "pools.*.infiniband": "a rule reads it; a size allows one value only, and what is asked for follows from the size",
    "sizes.*.vcpus": "`preflight` counts them against the quota",
    "sizes.*.memoryGib": "the rehearsal's machines have it",
    "sizes.*.accelerator.model": "tells V100, which has no DMA-BUF; the rehearsal's machines have it",
    "sizes.*.accelerator.memoryGb": "the rehearsal's machines have it",
    "regions": "rules read it; the location and the zones that it allows are asked for",
    "sizes.*.series": "`preflight` finds the quota by it",
}
"""Settings that need others to act, each with the place in which it acts. A setting that acts alone may not
stand here.
"""
MOST_VALUES = 2
"""Values of one setting in one place of a stack. The first that changes a request is enough."""
ENOUGH: Final = 2
"""Variants of a setting that needs others to act. Each other one is tried until one changes a request."""
_HASH: Final = re.compile(r"-[0-9a-f]{8}(?![0-9a-f])")
"""The end of a validation's name. The hash changes with every setting of a pool, so a setting that changes nothing else
would seem to reach the engine.
"""
_WITHOUT: Final[dict[str, str]] = {}
"""By stack, its requests as it stands: computed once."""


@pytest.fixture
def asked(deploy: Deploy, monkeypatch: pytest.MonkeyPatch) -> Callable[[Configuration], str]:
    """All requests of a stack file to the engine, if kubelogin is on the PATH, and the operators of an existing cluster
    suit it and are ready.
    """
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/local/bin/{name}")
    spec = {
        "driver": {"enabled": True, "rdma": {"enabled": True}},
        "toolkit": {"enabled": True},
        "daemonsets": {"tolerations": [{"operator": "Exists"}]},
    }
    state = {"status": {"state": "ready"}}
    ready = {"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}, "spec": spec, **state}
    monkeypatch.setattr(existing_gpu_operator, "policies_there", lambda _: ([ready], []))
    monkeypatch.setattr(existing_gpu_operator, "nodes_of", lambda _: [])

    login = base64.b64encode(TWO_CONTEXTS.read_bytes()).decode()
    answers = {"listManagedClusterUserCredentials": {"kubeconfigs": [{"name": "user", "value": login}]}}

    def run(configuration: Configuration) -> str:
        def program() -> Any:
            whole = load(configuration)
            nics = {"kind": "NicClusterPolicy", "metadata": {"name": POLICY_NAME}, "spec": whole.policies.cluster}
            monkeypatch.setattr(existing_network_operator, "policies_there", lambda _: ([{**nics, **state}], [], []))
            cluster = RdmaCluster("rdma", args=RdmaClusterArgs(stack=whole))
            return cluster.pools, cluster.sample_jobs

        feature = all(pool.size.placement_feature for pool in load(configuration).pools)
        made = deploy(program, feature_states=["Registered" if feature else "NotRegistered"], answers=answers)
        requests = {each.urn: _in_order(each.request) for each in made.registrations}
        text = json.dumps([made.result, sorted(made.reads), requests], default=str, sort_keys=True)
        return _HASH.sub("-hash", text)

    return run


@pytest.mark.parametrize("title", ["with every section", "in an existing cluster with every section"])
def test_the_same_stack_asks_the_engine_for_the_same(asked: Callable[[Configuration], str], title: str) -> None:
    """Or every setting would seem to change something."""
    first = asked(STACKS[title])
    assert asked(STACKS[title]) == first
    _WITHOUT[title] = first


@pytest.mark.parametrize(
    ("model", "name", "place"), SETTINGS, ids=[".".join(map(str, place)) for _, _, place in SETTINGS]
)
def test_a_setting_off_its_default_changes_what_the_engine_is_asked_for(
    asked: Callable[[Configuration], str], model: type[BaseModel], name: str, place: Place
) -> None:
    title = ".".join(map(str, place))
    tried = list[str]()
    for stack_title, variant in islice(variants(model, name, place), ENOUGH if title in NOT_BY_ITSELF else None):
        if stack_title not in _WITHOUT:
            _WITHOUT[stack_title] = asked(STACKS[stack_title])
        if variant is not None and asked(variant) != _WITHOUT[stack_title]:
            assert title not in NOT_BY_ITSELF
            return
        tried.append(stack_title)
    assert tried, f"{title}: no stack of STACKS takes any legal value of it"
    assert title in NOT_BY_ITSELF, f"{title} reaches nothing: tried in {', '.join(dict.fromkeys(tried))}"
