"""AMD's GPU Operator: it offers AMD's GPUs to pods, and builds and loads their driver if it owns it.

NVIDIA's GPU Operator may run in the same cluster, and neither puts anything on the other's nodes: each selects nodes by
a label that Node Feature Discovery gives by the GPUs' vendor.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Final

import pulumi

from aks_infiniband.facts import amd, rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators import charts
from aks_infiniband.operators.release import (
    DEFAULTS,
    SYSTEM_POOL,
    OperatorArgs,
    OperatorOptions,
    install_operator,
    system_node_affinity,
)
from aks_infiniband.resources import metadata

RELEASE: Final = "amd-gpu-operator"
"""Name of the Helm release, as in AMD's documentation."""
_MANAGER: Final = "docker.io/rocm/amd-gpu-operator"
_KMM: Final = "docker.io/rocm/kernel-module-management"
_BUILDER: Final = "gcr.io/kaniko-project/executor:v1.23.2"


def is_amd_pool(pool: Pool) -> bool:
    """True if AMD's GPU Operator manages the pool's GPUs."""
    gpus = pool.size.accelerator
    return gpus is not None and gpus.software == "rocm" and pool.gpu_driver != "none"


def builds_driver(pools: Sequence[Pool]) -> bool:
    """True if the operator builds and loads the driver of any of the pools, for which it needs KMM and cert-manager."""
    return any(is_amd_pool(pool) and pool.gpu_driver == "operator" for pool in pools)


@dataclass(frozen=True, kw_only=True, slots=True)
class AmdOptions:
    """Options of the operator that are alike for all pools of AMD's GPUs."""

    operator: OperatorOptions = DEFAULTS
    """The driver's version, its upgrade and the registry, as for NVIDIA's."""
    driver_image: Annotated[str, rules.image_repository] | None = None
    """Repository, without a tag, to which the driver's images are pushed and from which nodes pull them."""
    remediation: bool = False
    """True if the chart brings its remediation: Argo's workflow controller and its definitions."""
    device_config: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of a DeviceConfig's spec. One that contradicts what follows from the pool is refused."""

    def __post_init__(self) -> None:
        """Raises ValueError for text that is not a repository of images."""
        keep_rules(self)


NO_OPTIONS: Final = AmdOptions()


def amd_gpu_operator_values(
    pools: Sequence[Pool],
    *,
    given: Mapping[str, Any] = MappingProxyType({}),
    options: AmdOptions = NO_OPTIONS,
    system_node_selector: Mapping[str, str] = SYSTEM_POOL,
) -> dict[str, Any]:
    """The chart's Helm values: the values that follow from the pools, and the given ones.

    pools: all pools of the cluster; the operator's pods stay off them.

    Raises charts.ValuesError for a given value that contradicts what follows from the pools.
    """
    kmm, affinity = builds_driver(pools), system_node_affinity(system_node_selector, pools)
    values: dict[str, Any] = {
        # The Network Operator's chart brings the cluster's only Node Feature Discovery: two take away each other's
        # labels.
        "node-feature-discovery": {"enabled": False},
        "installdefaultNFDRule": True,
        # Kernel Module Management, whose chart needs cert-manager.
        "kmm": {"enabled": kmm, "watch": kmm, **(_kmm(options, affinity) if kmm else {})},
        "remediation": {"enabled": options.remediation, "installCRDs": options.remediation},
        # A DeviceConfig for each pool takes its place: two may not select one node.
        "crds": {"defaultCR": {"install": False, "upgrade": False}},
        # Pods request GPUs by resource; the class would promise a DRA driver that does not run.
        "draDriver": {"deviceClass": {"create": False}},
        "controllerManager": {"affinity": affinity, **_image(options, "manager", _MANAGER)},
    }
    if options.operator.registry.pull_secret:
        values["global"] = {"imagePullSecrets": options.operator.registry.pull_secrets()}
    return charts.merge(given, values, chart=amd.AMD_GPU_OPERATOR_CHART.name)


def _kmm(options: AmdOptions, affinity: Mapping[str, Any]) -> dict[str, Any]:
    """KMM's own images are named by `latest` in the chart."""
    registry, tag = options.operator.registry, amd.KMM_IMAGE_TAG

    def manager(name: str) -> dict[str, Any]:
        return {"image": {"repository": registry.image(f"{_KMM}-{name}"), "tag": tag}}

    related = {
        "relatedImageBuild": registry.image(_BUILDER),
        "relatedImageSign": registry.image(f"{_KMM}-signimage:{tag}"),
        "relatedImageWorker": registry.image(f"{_KMM}-worker:{tag}"),
    }
    return {
        "controller": {"affinity": dict(affinity), "manager": {**manager("operator"), "env": related}},
        "webhookServer": {"affinity": dict(affinity), "webhookServer": manager("webhook-server")},
    }


def _image(options: AmdOptions, part: str, repository: str) -> dict[str, Any]:
    """The source of a part's image; nothing if images stay at their sources."""
    registry = options.operator.registry
    return {part: {"image": {"repository": registry.image(repository)}}} if registry.images else {}


def amd_gpu_operator_images(pools: Sequence[Pool], options: AmdOptions) -> Iterator[tuple[str, Sequence[Pool]]]:
    """Each image of the pinned chart that is pulled, with the pools whose nodes pull it: none, for its own pods.

    device_config.device_config_images are the others. The image that signs drivers is not pulled: none is signed.
    """
    registry, tag = options.operator.registry, amd.KMM_IMAGE_TAG
    yield registry.image(f"{_MANAGER}:{amd.AMD_GPU_OPERATOR_CHART.version}"), ()
    if builds_driver(pools):
        built_on = [pool for pool in pools if builds_driver([pool])]
        yield registry.image(f"{_KMM}-operator:{tag}"), ()
        yield registry.image(f"{_KMM}-webhook-server:{tag}"), ()
        yield registry.image(f"{_KMM}-worker:{tag}"), built_on
        yield registry.image(_BUILDER), built_on


@dataclass(frozen=True, kw_only=True)
class AmdGpuOperatorArgs(OperatorArgs):
    """The arguments of an AmdGpuOperator. Its chart needs Node Feature Discovery's definitions: give NetworkOperator as
    depends_on, and cert-manager if the operator builds a driver.
    """

    chart: charts.ChartSource = field(default_factory=lambda: charts.chart_source(amd.AMD_GPU_OPERATOR_CHART))
    """The chart; AMD's by default."""


class AmdGpuOperator(pulumi.ComponentResource):
    """The operator, ready, and the definition of DeviceConfig."""

    namespace: pulumi.Output[str]
    """The operator's namespace."""

    def __init__(self, name: str, *, args: AmdGpuOperatorArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        values = amd_gpu_operator_values(args.pools) if args.values is None else args.values
        super().__init__("aks-infiniband:index:AmdGpuOperator", name, None, opts)
        release = install_operator(
            name, metadata.AMD_GPU_OPERATOR_NAMESPACE, args, values=values, parent=self, opts=opts, release=RELEASE
        )
        self.namespace = release.namespace.apply(str)  # the one it was given
        self.register_outputs({"namespace": self.namespace})
