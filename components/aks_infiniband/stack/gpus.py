"""The resources that make the GPUs of a stack usable, by vendor, wired together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pulumi

from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.amd_gpu_operator import AmdGpuOperator
from aks_infiniband.operators.cert_manager import CertManager
from aks_infiniband.operators.device_config import DeviceConfig
from aks_infiniband.operators.dra_driver import DraDriver
from aks_infiniband.operators.driver_turns import DriverTurns
from aks_infiniband.operators.existing_gpu_operator import ExistingGpuOperator
from aks_infiniband.operators.gpu_operator import GpuOperator
from aks_infiniband.stack.stack import Stack

Ready = pulumi.Input[pulumi.Resource]


@dataclass(frozen=True, kw_only=True)
class Ground:
    """The base of every part of a stack."""

    name: str
    """Prefix of all resources' names."""
    stack: Stack
    kubeconfig: pulumi.Input[str]
    after: Callable[..., pulumi.ResourceOptions]
    """Options of what comes after some resources."""
    machines: Callable[[Sequence[Pool]], list[Ready]]
    """The resources that exist once the machines of pools do."""


def nvidia(ground: Ground, turns: DriverTurns, *after: Ready) -> tuple[list[Ready], list[pulumi.Resource]]:
    """The resources after which GPUs of NVIDIA are ready, and the GPU Operator's own release."""
    name, stack = f"{ground.name}-gpu-operator", ground.stack
    ready: list[Ready] = []
    releases: list[pulumi.Resource] = []
    existing = stack.existing_gpu_operator(ground.kubeconfig)
    if existing is not None:
        ready.append(ExistingGpuOperator(name, args=existing, opts=ground.after()).ready)
    operator = stack.gpu_operator(ground.kubeconfig)
    if operator is not None:
        installed = GpuOperator(name, args=replace(operator, turns=turns), opts=ground.after(*after))
        ready.append(installed)
        releases.append(installed.release)
    return ready, releases


def nvlink(ground: Ground) -> list[DraDriver]:
    """The driver for ComputeDomains; its plugins wait for the GPUs' driver by themselves."""
    wanted = ground.stack.dra_driver(ground.kubeconfig)
    if wanted is None:
        return []
    served = [pool for pool in ground.stack.pools if pool.has_compute_domain]
    args = replace(wanted, machines=ground.machines(served))
    return [DraDriver(f"{ground.name}-dra-driver", args=args, opts=ground.after())]


def amd(ground: Ground, *, discovery: Sequence[pulumi.Resource], network: Sequence[Ready]) -> list[pulumi.Resource]:
    """The resources after which GPUs of AMD are ready.

    discovery: the resources that bring Node Feature Discovery's definitions, for the rule of AMD's chart. network: the
    resources after which the NIC driver is ready. The NIC driver goes first, as in the AKS InfiniBand guide
    (deploy-aks.sh, all-amd): amdgpu takes hold of the InfiniBand core when it loads, and OFED exchanges that.
    """
    stack, kubeconfig = ground.stack, ground.kubeconfig
    operator = stack.amd_gpu_operator(kubeconfig)
    if operator is None:
        return []
    manager = stack.cert_manager(kubeconfig)
    before = [] if manager is None else [CertManager(f"{ground.name}-cert-manager", args=manager, opts=ground.after())]
    opts = ground.after(*discovery, *before)
    installed = AmdGpuOperator(f"{ground.name}-amd-gpu-operator", args=operator, opts=opts)
    return [
        DeviceConfig(
            f"{ground.name}-device-config-{pool}",
            args=args,
            opts=ground.after(installed, *network, *ground.machines([args.pool])),
        )
        for pool, args in stack.device_configs(kubeconfig).items()
    ]
