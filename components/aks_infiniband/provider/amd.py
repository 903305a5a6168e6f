"""AMD's GPU Operator and what it needs, for every language."""

from typing import TypedDict

import pulumi

from aks_infiniband.facts.amd import AMD_GPU_OPERATOR_CHART, CERT_MANAGER_CHART
from aks_infiniband.operators import amd_gpu_operator, cert_manager, device_config
from aks_infiniband.operators.amd_gpu_operator import AmdOptions
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.provider.arguments import taken
from aks_infiniband.provider.inputs import OperatorInputs, describes
from aks_infiniband.provider.operators import operator, registry


class CertManager(cert_manager.CertManager):
    """cert-manager, which AMD's operator needs if it builds the driver. Its controllers are ready."""

    def __init__(self, name: str, args: OperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = operator(
            cert_manager.CertManagerArgs,
            args,
            CERT_MANAGER_CHART,
            cert_manager.cert_manager_values,
            registry=registry(args),
        )
        super().__init__(name, args=arguments, opts=opts)


@describes(AmdOptions, OperatorInputs, without=("operator", "driver_image", "device_config"))
class AmdGpuOperatorInputs(TypedDict):
    """The inputs of an AmdGpuOperator."""


class AmdGpuOperator(amd_gpu_operator.AmdGpuOperator):
    """AMD GPU Operator, ready, and the definition of DeviceConfig.

    Give the NetworkOperator as dependsOn, and CertManager if it builds the driver.
    """

    def __init__(self, name: str, args: AmdGpuOperatorInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = operator(
            amd_gpu_operator.AmdGpuOperatorArgs,
            args,
            AMD_GPU_OPERATOR_CHART,
            amd_gpu_operator.amd_gpu_operator_values,
            options=taken(AmdOptions, args, operator=taken(OperatorOptions, args)),
        )
        super().__init__(name, args=arguments, opts=opts)


@describes(
    AmdOptions,
    OperatorOptions,
    device_config.DeviceConfigArgs,
    without=("operator", "options", "release", "remediation"),
)
class DeviceConfigInputs(TypedDict):
    """The inputs of a DeviceConfig."""


class DeviceConfig(device_config.DeviceConfig):
    """The parts that AMD's GPU Operator puts on the machines of one pool, Ready. Give AmdGpuOperator as dependsOn."""

    def __init__(self, name: str, args: DeviceConfigInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        options = taken(AmdOptions, args, operator=taken(OperatorOptions, args))
        super().__init__(name, args=taken(device_config.DeviceConfigArgs, args, options=options), opts=opts)
