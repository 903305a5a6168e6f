"""The documents of operators and of DaemonSets, each as it differs from that of the usual pool."""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.versions import Chart
from aks_infiniband.hosts.dranet import dranet_spec
from aks_infiniband.hosts.image_pull import ImagePull
from aks_infiniband.hosts.node_preparation import node_preparation, to_prepare
from aks_infiniband.hosts.peermem import peermem, peermem_pools
from aks_infiniband.hosts.toolkit_hardening import toolkit_hardening, unhardened
from aks_infiniband.observability.documents import exporter_spec
from aks_infiniband.operators import charts
from aks_infiniband.operators.amd_gpu_operator import AmdOptions, amd_gpu_operator_values
from aks_infiniband.operators.cert_manager import cert_manager_values
from aks_infiniband.operators.device_config import device_config_spec
from aks_infiniband.operators.dra_driver import dra_driver_values
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.ipoib import ip_pool_spec, ipoib_network_spec, ipoib_networks
from aks_infiniband.operators.network_operator import network_operator_values, node_feature_rule_spec
from aks_infiniband.operators.nic_policy import nic_policy_specs
from aks_infiniband.resources.registry import SOURCES, Registry

from tests.cases import Case, replaced
from tests.some_pools import GB300, MI300X
from tests.unit.components.cases.pools import differing, made, options_of, pools_of


def outcome_of_policies(case: Case) -> Any:
    """The specs of NIC policies; the configurations of device plugins are opened."""
    return differing(_policies, case)


def _policies(case: Case) -> dict[str, Any]:
    specs = nic_policy_specs(pools_of(case), options_of(case))
    return {"cluster": _opened(specs.cluster), "nodes": {name: _opened(spec) for name, spec in specs.nodes.items()}}


def _opened(spec: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: {**part, "config": json.loads(part["config"])} if isinstance(part, dict) and "config" in part else part
        for key, part in spec.items()
    }


_VALUES: Final[Mapping[str, tuple[Callable[..., Any], dict[str, Any]]]] = {
    "network-operator": (network_operator_values, {}),
    "gpu-operator": (gpu_operator_values, {}),
    "amd-gpu-operator": (amd_gpu_operator_values, {"size": MI300X, "gpu_driver": "image"}),
    "cert-manager": (cert_manager_values, {"size": MI300X, "gpu_driver": "operator"}),
    "dra-driver": (dra_driver_values, {"size": GB300}),
}
"""By chart, what makes its Helm values, and what its usual pool has."""


def outcome_of_values(case: Case) -> Any:
    """The Helm values of a `chart`; `with` has the further arguments."""
    return differing(_values, case, "chart")


def _values(case: Case) -> Any:
    values, usual = _VALUES[case["chart"]]
    kind: Callable[..., Any] = _amd if case["chart"] == "amd-gpu-operator" else options_of
    options = {"options": kind(case)} if "options" in case else {}
    return _or_refused(lambda: values(pools_of(case, **usual), **options, **made(case.get("with", {}))))


def _amd(case: Case) -> AmdOptions:
    return AmdOptions(operator=options_of(case), **case.get("amd", {}))


def _or_refused(family: Callable[[], Any]) -> Any:
    try:
        return family()
    except charts.ValuesError as error:
        return {"refused": str(error)}


def outcome_of_device(case: Case) -> Any:
    """The spec of the DeviceConfig of the first pool."""
    return differing(_device, case)


def _device(case: Case) -> Any:
    (pool,) = pools_of(case, size=MI300X, gpu_driver="image")
    return _or_refused(lambda: device_config_spec(pool, _amd(case)))


def outcome_of_rule(case: Case) -> Any:
    """The spec of the NodeFeatureRule."""
    return differing(lambda chosen: node_feature_rule_spec(pools_of(chosen)), case)


_DAEMONS: Final[Mapping[str, Callable[[Sequence[Pool], Case], Any]]] = {
    "node-preparation": lambda pools, case: node_preparation(pools, memlock=case.get("memlock", False)),
    "peermem": lambda pools, _: peermem(pools),
    "toolkit-hardening": lambda pools, _: toolkit_hardening(pools),
}


def outcome_of_daemon(case: Case) -> Any:
    """The spec of the DaemonSet of a `program`; scripts stand there by their names."""
    return differing(_daemon, case, "program")


def _daemon(case: Case) -> Any:
    pools, program = pools_of(case), case["program"]
    registry = made(case).get("registry", SOURCES)
    if program == "dranet":
        return dranet_spec(pools, registry)
    if program == "image-pull":
        pull = ImagePull(pools=pools, images=case.get("images", ["docker.io/me/train:1"]), registry=registry)
        return {"name": pull.name, **pull.spec()}
    if program == "infiniband-exporter":
        return exporter_spec(pools[0], registry)
    spec = _DAEMONS[program](pools, case).spec(registry)
    for script in (resources.files("aks_infiniband.hosts")).iterdir():
        if script.name.endswith(".sh"):
            text = script.read_text(encoding="utf-8")
            spec = replaced(replaced(spec, text, f"{{{script.name}}}"), text.rstrip(), f"{{{script.name}}}")
    return spec


def outcome_of_chosen(case: Case) -> dict[str, list[str]]:
    """The pools on whose nodes a program runs."""
    pools = pools_of(case)
    chosen = {
        "prepared": to_prepare(pools, asked_for=False),
        "prepared if enabled": to_prepare(pools, asked_for=True),
        "with peermem": peermem_pools(pools),
        "with a hardened toolkit": unhardened(pools),
    }
    return {what: [pool.name for pool in of] for what, of in chosen.items()}


def outcome_of_chart(case: Case) -> Any:
    """The source of the Network Operator's chart, or of its values."""
    pinned = Chart(name="network-operator", repository="https://helm.ngc.nvidia.com/nvidia", version="26.4.1")
    chart = charts.chart_source(pinned, **case)
    return [chart.name, chart.repository, chart.version]


def outcome_of_merge(case: Case) -> Any:
    """Given values over derived ones."""
    return _or_refused(lambda: charts.merge(case["given"], case["derived"], chart="network-operator"))


def outcome_of_image(case: Case) -> str:
    """The place of an image in a mirror."""
    return Registry(images="acr.example:5000/mirror", pull_secret="login").image(case["image"])


def outcome_of_networks(case: Case) -> Any:
    """The networks of pools in mode ipoib, with their objects."""
    networks = ipoib_networks(pools_of(case), **made(case["with"]))
    return {
        each.name: {
            "pools": [pool.name for pool in each.pools],
            "IPPool": ip_pool_spec(each),
            "IPoIBNetwork": ipoib_network_spec(each, namespace="apps"),
        }
        for each in networks
    }


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "policies": outcome_of_policies,
    "values": outcome_of_values,
    "device": outcome_of_device,
    "rule": outcome_of_rule,
    "daemon": outcome_of_daemon,
    "chosen": outcome_of_chosen,
    "chart": outcome_of_chart,
    "merge": outcome_of_merge,
    "image": outcome_of_image,
    "networks": outcome_of_networks,
}
"""By the first word of a file's name, what gives the outcome of a case."""
