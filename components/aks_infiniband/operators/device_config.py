"""The parts that AMD's GPU Operator puts on the nodes of one pool: the driver's owner, and the plugin that offers its
GPUs to pods.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts import amd
from aks_infiniband.facts.pool import Pool
from aks_infiniband.handwritten import shortened, word
from aks_infiniband.handwritten.form import did_you_mean
from aks_infiniband.operators import charts
from aks_infiniband.operators.amd_gpu_operator import NO_OPTIONS, AmdOptions
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import WaitArgs, condition_annotations


def device_config_spec(pool: Pool, options: AmdOptions = NO_OPTIONS) -> dict[str, Any]:
    """The spec of the DeviceConfig of one pool: whose driver, and what runs on its nodes.

    Every operand tolerates the pool's taints; none does by itself. Without a word the definition has the operator
    install a driver, and every image is `latest`.

    Raises charts.ValuesError for a field of options.device_config that is none, or contradicts what follows from the
    pool.
    """
    registry, tolerations = options.operator.registry, [dict(each) for each in pool.upkeep_tolerations]
    tolerated = bool(tolerations)
    spec: dict[str, Any] = {
        "selector": {**amd.VIRTUAL_GPU, **pool.node_selector},
        "driver": _driver(pool, options),
        "devicePlugin": {
            "enableDevicePlugin": True,
            "devicePluginImage": registry.image(amd.DEVICE_PLUGIN_IMAGE),
            "enableNodeLabeller": True,
            "nodeLabellerImage": registry.image(amd.NODE_LABELLER_IMAGE),
            **({"devicePluginTolerations": tolerations, "nodeLabellerTolerations": tolerations} if tolerated else {}),
        },
        "metricsExporter": {
            "enable": True,
            "serviceType": "ClusterIP",
            "port": amd.METRICS_PORT,
            "image": registry.image(amd.METRICS_EXPORTER_IMAGE),
            **({"tolerations": tolerations} if tolerated else {}),
        },
        "commonConfig": {
            "initContainerImage": registry.image(amd.INIT_IMAGE),
            **({"imageRegistrySecrets": registry.pull_secrets()} if registry.pull_secret else {}),
        },
    }
    if conflicts := [*_strange(options.device_config), *charts.contradictions(options.device_config, spec)]:
        lines = "\n".join(f"  - {key} {reason}" for key, reason in conflicts)
        raise charts.ValuesError(
            f"the DeviceConfig of pool {pool.name} contradicts what follows from the stack's settings:\n{lines}",
            [(f"deviceConfig.{key}", reason) for key, reason in conflicts],
        )
    return charts.over(options.device_config, spec)


def _strange(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields that the definition does not have, which the API server drops, and labels that would select no node."""
    for key in spec:
        if key not in amd.DEVICE_CONFIG_FIELDS:
            guess = did_you_mean(key, list(amd.DEVICE_CONFIG_FIELDS))
            yield word(key), f"is not known; {guess}fields are {', '.join(amd.DEVICE_CONFIG_FIELDS)}"
    if "selector" in spec:
        reason = "it follows from the pool, and a further label would leave its nodes out: leave it out"
        yield "selector", f"is {shortened(spec['selector'])}; {reason}"


def device_config_images(pool: Pool, options: AmdOptions = NO_OPTIONS) -> list[str]:
    """The images that the nodes of a pool pull for its DeviceConfig, except the driver's."""
    spec = device_config_spec(pool, options)
    plugin, exporter, common = spec["devicePlugin"], spec["metricsExporter"], spec["commonConfig"]
    wanted = [
        (plugin["enableDevicePlugin"], plugin["devicePluginImage"]),
        (plugin["enableNodeLabeller"], plugin["nodeLabellerImage"]),
        (exporter["enable"], exporter["image"]),
    ]
    return [*(str(image) for enabled, image in wanted if enabled), str(common["initContainerImage"])]


def _driver(pool: Pool, options: AmdOptions) -> dict[str, Any]:
    """Ubuntu's kernel may have its own amdgpu, and another does not load with it: its blacklist keeps it out
    (docs/knownlimitations.md, 3; on AKS: Azure/AKS pull request 5970). A driver that changes needs a reboot (11).
    """
    if pool.gpu_driver != "operator":
        return {"enable": False, "blacklist": False}
    upgrade, secret = options.operator.upgrade, options.operator.registry.pull_secret
    leaves = {"force": True, "timeoutSeconds": upgrade.drain_timeout_seconds, "gracePeriodSeconds": -1}
    driver: dict[str, Any] = {
        "enable": True,
        "blacklist": True,
        "version": options.operator.driver_version or amd.DRIVER_VERSION,
        "upgradePolicy": {
            "enable": upgrade.automatic,
            "maxParallelUpgrades": 1,
            "maxUnavailableNodes": "25%",
            "rebootRequired": True,
            "nodeDrainPolicy": leaves,
            "podDeletionPolicy": dict(leaves),
        },
    }
    if options.driver_image:
        driver["image"] = options.driver_image
    if secret:
        driver["imageRegistrySecret"] = {"name": secret}
    if pool.upkeep_tolerations:
        driver["tolerations"] = [dict(each) for each in pool.upkeep_tolerations]
    return driver


@dataclass(frozen=True, kw_only=True)
class DeviceConfigArgs(WaitArgs):
    """The arguments of a DeviceConfig."""

    pool: Pool
    """The pool that it is for."""
    options: AmdOptions = NO_OPTIONS
    """Options that are alike for all pools."""

    def __post_init__(self) -> None:
        """Raises ValueError for a pool without GPUs of AMD."""
        super().__post_init__()
        accelerator = self.pool.size.accelerator
        if accelerator is None or accelerator.vendor != "amd":
            reason = "must be a pool with GPUs of AMD: its operator does nothing on other machines"
            raise ValueError(f"pool is {self.pool.name}, of {self.pool.size.name}; {reason}")


class DeviceConfig(pulumi.ComponentResource):
    """The parts that AMD's GPU Operator puts on the nodes of one pool. Named after the pool.

    A DeviceConfig is ready once the operator has found a node of the pool and made its DaemonSets; it does not say
    whether their pods run and a driver is loaded. So nodes must be there, and their GPUs have to be waited for.

    Give AmdGpuOperator as depends_on.
    """

    ready: pulumi.Output[str]
    """Its name, once the operator says Ready."""

    def __init__(self, name: str, *, args: DeviceConfigArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        pool = args.pool
        spec = device_config_spec(pool, args.options)
        super().__init__("aks-infiniband:index:DeviceConfig", name, None, opts)
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=[pool])
        made = kubernetes.apiextensions.CustomResource(
            name,
            api_version="amd.com/v1alpha1",
            kind="DeviceConfig",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=pool.name,
                namespace=metadata.AMD_GPU_OPERATOR_NAMESPACE,
                labels=metadata.labels(pool.name, "policy"),
                annotations=condition_annotations(args, "Ready"),
            ),
            spec=spec,
            opts=waiting.child_options(name, "device-config"),
        )
        self.ready = made.id.apply(lambda _: pool.name)
        self.register_outputs({"ready": self.ready})
