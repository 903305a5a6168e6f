"""AMD's GPU Operator and what it needs, for every language."""

from typing import Any, NotRequired

import pulumi

from aks_infiniband.facts.amd import AMD_GPU_OPERATOR_CHART, CERT_MANAGER_CHART
from aks_infiniband.operators import amd_gpu_operator, cert_manager, device_config
from aks_infiniband.operators.amd_gpu_operator import AmdOptions
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.inputs import (
    OperatorInputs,
    PoolDescription,
    RegistryDescription,
    UpgradeDescription,
    WaitInputs,
)
from aks_infiniband.provider.operators import operator, registry


class CertManager(cert_manager.CertManager):
    """cert-manager, which AMD's operator needs where it builds the driver. Its controllers are ready."""

    def __init__(self, name: str, args: OperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = operator(
            cert_manager.CertManagerArgs,
            args,
            CERT_MANAGER_CHART,
            cert_manager.cert_manager_values,
            registry=registry(args),
        )
        super().__init__(name, args=given, opts=opts)


class AmdGpuOperatorInputs(OperatorInputs):
    """What an AmdGpuOperator takes."""

    remediation: NotRequired[bool]
    """Whether the chart brings its remediation: Argo's workflow controller. Default: false."""


class AmdGpuOperator(amd_gpu_operator.AmdGpuOperator):
    """AMD GPU Operator, ready, and the definition of DeviceConfig.

    Give the NetworkOperator as dependsOn, and CertManager where it builds the driver.
    """

    def __init__(self, name: str, args: AmdGpuOperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        given = operator(
            amd_gpu_operator.AmdGpuOperatorArgs,
            args,
            AMD_GPU_OPERATOR_CHART,
            amd_gpu_operator.amd_gpu_operator_values,
            options=taken(AmdOptions, args, operator=taken(OperatorOptions, args)),
        )
        super().__init__(name, args=given, opts=opts)


class DeviceConfigInputs(WaitInputs):
    """What a DeviceConfig takes."""

    pool: PoolDescription
    """The pool that it is for."""
    driver_version: NotRequired[str]
    """Version of the GPU driver, where the operator owns it. Default: the one that was read and rehearsed."""
    driver_image: NotRequired[str]
    """Repository, without a tag, to which the images of the driver are pushed and from which nodes pull them."""
    upgrade: NotRequired[UpgradeDescription]
    """How a changed driver reaches the nodes."""
    registry: NotRequired[RegistryDescription]
    """Where images come from. Default: from where their makers publish them."""
    device_config: NotRequired[dict[str, Any]]
    """Further fields of its spec. A field that contradicts what follows from the pool is refused."""


class DeviceConfig(device_config.DeviceConfig):
    """What AMD's GPU Operator puts on the machines of one pool, Ready. Give AmdGpuOperator as dependsOn."""

    def __init__(self, name: str, args: DeviceConfigInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        options = taken(AmdOptions, args, operator=taken(OperatorOptions, args))
        super().__init__(name, args=taken(device_config.DeviceConfigArgs, args, options=options), opts=opts)
