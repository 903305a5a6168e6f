"""The operators, and what they put on nodes."""

from collections.abc import Callable
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Final

from aks_infiniband import OperatorOptions, chart_source
from aks_infiniband.facts.amd import AMD_GPU_OPERATOR_CHART, CERT_MANAGER_CHART
from aks_infiniband.facts.releases import DEFAULT_RELEASE, OPERATOR_RELEASES
from aks_infiniband.facts.versions import DRA_DRIVER_CHART, Chart
from aks_infiniband.operators.amd_gpu_operator import AmdOptions, amd_gpu_operator_values
from aks_infiniband.operators.cert_manager import cert_manager_values
from aks_infiniband.operators.dra_driver import dra_driver_values
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.ipoib import ipoib_networks
from aks_infiniband.operators.network_operator import network_operator_values
from aks_infiniband.operators.nic_policy import nic_policy_specs

from tests.unit.provider.parity.parts import AMD, GB, HB, MIRROR, ND, SRIOV, UPGRADE, WAIT

_RELEASE: Final = OPERATOR_RELEASES["26.7"]


def _operator(pools: Any, chart: Chart, values: Callable[..., Any], **options: Any) -> dict[str, Any]:
    made = values(pools, given={"further": {"replicas": 2}}, system_node_selector={"role": "system"}, **options)
    source = chart_source(chart, version="1.2.3", repository="https://charts.example")
    return {"pools": pools, "chart": source, "values": made, "registry_credentials": "{}", **WAIT[1]}


_OPERATOR: Final = {
    **WAIT[0],
    "chart": {"version": "1.2.3", "repository": "https://charts.example"},
    "values": {"further": {"replicas": 2.0}},
    "systemNodeSelector": {"role": "system"},
    "registry": MIRROR[0],
    "registryCredentials": "{}",
}
_OPTIONS: Final = (
    {"driverVersion": "580.126.20", "upgrade": UPGRADE[0]},
    OperatorOptions(driver_version="580.126.20", upgrade=UPGRADE[1], registry=MIRROR[1], release=_RELEASE),
)
_POLICIES: Final = nic_policy_specs([SRIOV[1], HB[1]], _OPTIONS[1])
_NETWORKS: Final = ipoib_networks(
    [SRIOV[1], HB[1]], IPv4Network("10.9.0.0/16"), per_node=8, gateway=IPv4Address("10.9.0.1")
)

TWICE: Final[dict[str, Any]] = {
    "NetworkOperator": (
        {"pools": [ND[0]], **_OPERATOR, "release": "26.7", "featureDiscovery": False},
        lambda: {
            "release": _RELEASE,
            **_operator(
                [ND[1]],
                _RELEASE.network_operator.chart,
                network_operator_values,
                registry=MIRROR[1],
                feature_discovery=False,
            ),
        },
    ),
    "GpuOperator": (
        {
            "pools": [ND[0]],
            **_OPERATOR,
            **_OPTIONS[0],
            "release": "26.7",
            "metrics": True,
            "acceptVisibleDevicesEnvvar": True,
        },
        lambda: _operator(
            [ND[1]],
            _RELEASE.gpu_operator.chart,
            gpu_operator_values,
            options=_OPTIONS[1],
            metrics=True,
            accept_visible_devices_envvar=True,
        ),
    ),
    "DraDriver": (
        {"pools": [GB[0]], **_OPERATOR},
        lambda: _operator([GB[1]], DRA_DRIVER_CHART, dra_driver_values, registry=MIRROR[1]),
    ),
    "CertManager": (
        {"pools": [AMD[0]], **_OPERATOR},
        lambda: _operator([AMD[1]], CERT_MANAGER_CHART, cert_manager_values, registry=MIRROR[1]),
    ),
    "AmdGpuOperator": (
        {"pools": [AMD[0]], **_OPERATOR, "remediation": True},
        lambda: _operator(
            [AMD[1]],
            AMD_GPU_OPERATOR_CHART,
            amd_gpu_operator_values,
            options=AmdOptions(operator=OperatorOptions(registry=MIRROR[1]), remediation=True),
        ),
    ),
    "DeviceConfig": (
        {
            "pool": AMD[0],
            **WAIT[0],
            **_OPTIONS[0],
            "registry": MIRROR[0],
            "driverImage": "registry.example/driver",
            "deviceConfig": {"testRunner": {"enable": True, "times": 2.0}},
        },
        lambda: {
            "pool": AMD[1],
            **WAIT[1],
            "options": AmdOptions(
                operator=replace(_OPTIONS[1], release=DEFAULT_RELEASE),
                driver_image="registry.example/driver",
                device_config={"testRunner": {"enable": True, "times": 2}},
            ),
        },
    ),
    "ExistingGpuOperator": (
        {"pools": [ND[0]], **WAIT[0], "pollSeconds": 0.5},
        lambda: {"pools": [ND[1]], **WAIT[1], "poll_seconds": 0.5},
    ),
    "ExistingNetworkOperator": (
        {
            "pools": [SRIOV[0], HB[0]],
            "release": "26.7",
            **_OPTIONS[0],
            "registry": MIRROR[0],
            **WAIT[0],
            "pollSeconds": 0.5,
        },
        lambda: {"policies": _POLICIES, **WAIT[1], "poll_seconds": 0.5},
    ),
    "NicClusterPolicy": (
        {"pools": [SRIOV[0], HB[0]], "release": "26.7", **_OPTIONS[0], "registry": MIRROR[0], **WAIT[0]},
        lambda: {"policies": _POLICIES, **WAIT[1]},
    ),
    "NicNodePolicy": (
        {
            "pools": [SRIOV[0], HB[0]],
            "release": "26.7",
            "poolName": "hb",
            **_OPTIONS[0],
            "registry": MIRROR[0],
            **WAIT[0],
        },
        lambda: {"policies": _POLICIES, "pool_name": "hb", **WAIT[1]},
    ),
    "IpoibNetwork": (
        {
            "pools": [SRIOV[0], HB[0]],
            "network": "aks-infiniband-ib0",
            "addresses": "10.9.0.0/16",
            "perNode": 8.0,
            "gateway": "10.9.0.1",
            "namespace": "jobs",
            **WAIT[0],
        },
        lambda: {"network": _NETWORKS[0], "namespace": "jobs", **WAIT[1]},
    ),
}
