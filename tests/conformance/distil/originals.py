"""The sources of the facts: every original, the public release and commit that has it, and the part that is taken from
it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from tests.conformance.distil import charts, definitions, manifests, observations, topologies
from tests.conformance.facts import AMD, DRA, GPU, GPU_LATER, NETWORK, NETWORK_LATER, PROMETHEUS, SCHEDULERS

Facts = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Publication:
    """A commit of a public repository."""

    repository: str
    release: str
    commit: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Original:
    """A file of the folder of originals, and how its facts are taken."""

    file: str
    """Path below the folder; the facts stand at the same path, as YAML."""
    source: Publication | str
    """The place of its publication, or its origin if it was not published."""
    path: str = ""
    """Path in the public repository."""
    facts: Callable[[str], Facts]


_NETWORK_OPERATOR = Publication(
    repository="Mellanox/network-operator", release="v26.4.1", commit="85afd6d9c6978eb871a3292b9897f49746cc43cd"
)
_GPU_OPERATOR = Publication(
    repository="NVIDIA/gpu-operator", release="v26.3.3", commit="b0a49c0e7b2e061dcd83f2bb2fe4fe960c5d0338"
)
_NETWORK_OPERATOR_LATER = Publication(
    repository="Mellanox/network-operator", release="v26.7.0-rc.2", commit="f928ef20d32b2b74c7bc6dcb0d0e410ae669b97a"
)
_GPU_OPERATOR_LATER = Publication(
    repository="NVIDIA/gpu-operator", release="v26.7.0", commit="10ee5b3638b89e11e949412aafa5ba99279c3721"
)
_AMD_GPU_OPERATOR = Publication(
    repository="ROCm/gpu-operator", release="v1.5.1", commit="858cf255c7dd27cebf1cc5db400eee3aa06ecbbc"
)
_DRA_DRIVER = Publication(
    repository="kubernetes-sigs/dra-driver-nvidia-gpu",
    release="v0.4.1",
    commit="764900e7833798a1528bd52a2af3e1b2d5f7a616",
)
_IMAGES = Publication(
    repository="Azure/azhpc-images", release="main, 2026-07-29", commit="8e9d055fb9e1f7385da734969793861c447958a1"
)
_KUBE_PROMETHEUS = Publication(
    repository="prometheus-operator/kube-prometheus",
    release="main, 2026-08-10, Prometheus Operator 0.93.0",
    commit="4d719f1dea8853540b3823ab1fbe6be74a9953b3",
)
_AZURE_PROMETHEUS = Publication(
    repository="Azure/prometheus-collector",
    release="main, 2026-07-21",
    commit="39583fd50b2f828f83cc18fc0cece9e3074f56db",
)
_KUEUE = Publication(
    repository="kubernetes-sigs/kueue", release="v0.17.0", commit="4d5f7ffc7bdc5f88c723678cdacb89c05158dd36"
)
_VOLCANO = Publication(
    repository="volcano-sh/volcano", release="v1.15.1", commit="0a56ed331897f5455916a44d3075671376d731d6"
)
_TWO_H200 = "NCCL 2.28.9 on one host with two H200 between which is NVLink, without an InfiniBand device"
_SEEN = "both operators as processes beside a real API server, with simulated nodes"


def _network(
    file: str, path: str, facts: Callable[[str], Facts] = definitions.distil, *, later: bool = False
) -> Original:
    release, source = (NETWORK_LATER, _NETWORK_OPERATOR_LATER) if later else (NETWORK, _NETWORK_OPERATOR)
    return Original(file=f"{release}/{file}", source=source, path=path, facts=facts)


def _gpu(file: str, path: str, facts: Callable[[str], Facts] = definitions.distil, *, later: bool = False) -> Original:
    release, source = (GPU_LATER, _GPU_OPERATOR_LATER) if later else (GPU, _GPU_OPERATOR)
    return Original(file=f"{release}/{file}", source=source, path=f"deployments/gpu-operator/{path}", facts=facts)


def _amd(file: str, path: str, facts: Callable[[str], Facts] = definitions.distil) -> Original:
    return Original(file=f"{AMD}/{file}", source=_AMD_GPU_OPERATOR, path=f"helm-charts-k8s/{path}", facts=facts)


def _dra(file: str, path: str, facts: Callable[[str], Facts] = definitions.distil) -> Original:
    where = f"deployments/helm/dra-driver-nvidia-gpu/{path}"
    return Original(file=f"{DRA}/{file}", source=_DRA_DRIVER, path=where, facts=facts)


_NETWORK_OPERANDS = (
    *("state-container-networking-plugins/0010-container-networking-plugins-ds.yml",),
    *("state-doca-telemetry-service/0010-doca-telemetry-service.yaml", "state-ipoib-cni/0050-ipoib-cni-ds.yml"),
    *("state-multus-cni/0050-multus-ds.yml", "state-nic-feature-discovery/030-nic-feature-discovery-ds.yaml"),
    *("state-nv-ipam-cni/040-nv-ipam-controller.yaml", "state-nv-ipam-cni/040-nv-ipam-node.yaml"),
    *("state-ofed-driver/0040_ofed_init_container_config-configmap.yaml", "state-ofed-driver/0050_ofed-driver-ds.yaml"),
    "state-rdma-shared-device-plugin/0060_rdma-shared-dev-plugin-ds.yaml",
    "state-sriov-device-plugin/0030-sriov-dp-daemonset.yaml",
)
_GPU_OPERANDS = (
    *("gpu-feature-discovery/0500_daemonset.yaml", "state-container-toolkit/0400_configmap.yaml"),
    *("state-container-toolkit/0500_daemonset.yaml", "state-dcgm-exporter/0800_daemonset.yaml"),
    *("state-device-plugin/0400_configmap.yaml", "state-device-plugin/0500_daemonset.yaml"),
    *("state-driver/0400_configmap.yaml", "state-driver/0500_daemonset.yaml"),
    *("state-mps-control-daemon/0400_daemonset.yaml", "state-operator-validation/0500_daemonset.yaml"),
)


def _operands(release: str, source: Publication, folder: str, paths: tuple[str, ...]) -> list[Original]:
    """The manifests of operands, by release and path."""
    return [
        Original(file=f"operands/{release}/{path}", source=source, path=f"{folder}/{path}", facts=manifests.operands)
        for path in paths
    ]


_CHART = "deployment/network-operator"
_ADDRESSES = "manifests/state-nv-ipam-cni/005-nv-ipam.nvidia.com_"

ORIGINALS: Final = (
    _network("chart-values.yaml", f"{_CHART}/values.yaml", charts.values),
    _network("components.yaml", "hack/release.yaml", charts.components),
    _network(
        "k8s.cni.cncf.io_network-attachment-definitions.yaml",
        f"{_CHART}/crds/k8s.cni.cncf.io_networkattachmentdefinitions_crd.yaml",
    ),
    *(
        _network(f"mellanox.com_{kinds}.yaml", f"{_CHART}/crds/mellanox.com_{kinds}.yaml")
        for kinds in ("ipoibnetworks", "nicclusterpolicies", "nicnodepolicies")
    ),
    _network("nfd-crds.yaml", f"{_CHART}/charts/node-feature-discovery/crds/nfd-api-crds.yaml"),
    *(_network(f"nv-ipam.nvidia.com_{kinds}.yaml", f"{_ADDRESSES}{kinds}.yaml") for kinds in ("cidrpools", "ippools")),
    _gpu("chart-values.yaml", "values.yaml", charts.values),
    *(
        _gpu(f"nvidia.com_{kinds}.yaml", f"crds/nvidia.com_{kinds}.yaml")
        for kinds in ("clusterpolicies", "nvidiadrivers")
    ),
    # For 26.7 only the differences.
    _network("chart-values.yaml", f"{_CHART}/values.yaml", charts.values, later=True),
    _network(
        "k8s.cni.cncf.io_network-attachment-definitions.yaml",
        f"{_CHART}/crds/k8s.cni.cncf.io_networkattachmentdefinitions_crd.yaml",
        later=True,
    ),
    *(
        _network(f"mellanox.com_{kinds}.yaml", f"{_CHART}/crds/mellanox.com_{kinds}.yaml", later=True)
        for kinds in ("nicclusterpolicies", "nicnodepolicies")
    ),
    _gpu("chart-values.yaml", "values.yaml", charts.values, later=True),
    *(
        _gpu(f"{kinds}.yaml", f"crds/{kinds}.yaml", later=True)
        for kinds in (
            *("nvidia.com_clusterpolicies", "nvidia.com_gpuclusters", "nvidia.com_nvidiadrivers"),
            *("resource.nvidia.com_computedomains", "resource.nvidia.com_computedomaincliques"),
        )
    ),
    _amd("chart-values.yaml", "values.yaml", charts.values),
    _amd("chart-values-kmm.yaml", "charts/kmm/values.yaml", charts.values),
    _amd("amd.com_deviceconfigs.yaml", "crds/deviceconfig-crd.yaml"),
    _dra("chart-values.yaml", "values.yaml", charts.values),
    *(
        _dra(f"resource.nvidia.com_{kinds}.yaml", f"crds/resource.nvidia.com_{kinds}.yaml")
        for kinds in ("computedomains", "computedomaincliques")
    ),
    *(
        Original(
            file=f"{PROMETHEUS}/monitoring.coreos.com_{kind}s.yaml",
            source=_KUBE_PROMETHEUS,
            path=f"manifests/setup/0{kind}CustomResourceDefinition.yaml",
            facts=definitions.distil,
        )
        for kind in ("podmonitor", "prometheusrule")
    ),
    Original(
        file=f"{PROMETHEUS}/azmonitoring.coreos.com_podmonitors.yaml",
        source=_AZURE_PROMETHEUS,
        path="otelcollector/deploy/addon-chart/azure-monitor-metrics-addon/templates/ama-metrics-podmonitor-crd.yaml",
        facts=definitions.distil,
    ),
    *(
        Original(
            file=f"{SCHEDULERS}/{kinds}.yaml", source=source, path=f"{folder}/{kinds}.yaml", facts=definitions.distil
        )
        for source, folder, kinds in (
            (_KUEUE, "config/components/crd/bases", "kueue.x-k8s.io_topologies"),
            (_KUEUE, "config/components/crd/bases", "kueue.x-k8s.io_resourceflavors"),
            (_VOLCANO, "config/crd/volcano/bases", "topology.volcano.sh_hypernodes"),
        )
    ),
    *_operands(NETWORK, _NETWORK_OPERATOR, "manifests", _NETWORK_OPERANDS),
    *_operands(GPU, _GPU_OPERATOR, "assets", _GPU_OPERANDS),
    *(
        Original(file=f"nccl-topology/{name}.xml", source=_IMAGES, path=f"topology/{name}.xml", facts=topologies.distil)
        for name in ("ndv2-topo", "ndv4-topo", "ndv5-topo")
    ),
    *(
        Original(file=f"transcripts/{name}.txt", source=_TWO_H200, facts=observations.debug_log)
        for name in ("nccl-debug-nvlink", "nccl-debug-socket-fallback")
    ),
    Original(file="transcripts/nccl-tests-all-reduce.txt", source=_TWO_H200, facts=observations.all_reduce),
    Original(file="operator-behaviour.md", source=_SEEN, facts=observations.operators),
    Original(
        file="field-reports.md", source="the project's collection of public reports", facts=observations.field_reports
    ),
)
