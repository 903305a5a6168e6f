"""The effects of pods on their machines: which effects are in force on which machine."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Final

from rehearsal.machines.hardware.container_toolkit import Toolkit
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.kernel_modules import AMDGPU, GPU_MODULES, INBOX_MODULES, OFED_MODULES, PEERMEM
from rehearsal.machines.pods.behaviours import Effect

_OF_THE_HOST: Final[frozenset[Effect]] = frozenset({"gpuDriver", "containerToolkit"})
"""The effects that a machine has by itself if AKS has installed the GPU driver, or its image has it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class InForce:
    """The effect of one ready pod on its machine."""

    node: str
    effect: Effect
    modules: frozenset[str] = frozenset()
    lifts_memlock: bool = False
    hardens_toolkit: bool = False
    """True if the container toolkit passes over the variable that names GPUs."""
    gives_by_variable: bool = False
    """True if a device plugin hands GPUs out by it."""
    stays: bool = False
    """True if modules and limit stay when the pod is gone, as changes of the host itself do."""


@dataclass
class Effects:
    """The effects of all pods, by pod UID, and what stays on their nodes without them.

    Nothing here looks at the pods of other nodes: a data centre may have a thousand.
    """

    broken: dict[str, str] = field(default_factory=dict)
    """Node -> why its container runtime is down for good."""
    _by_pod: dict[str, InForce] = field(default_factory=dict)
    _by_node: dict[str, dict[str, InForce]] = field(default_factory=dict)
    _anywhere: dict[Effect, set[str]] = field(default_factory=dict)
    _left: dict[str, list[InForce]] = field(default_factory=dict)
    """Node -> what stays there."""
    _changes: dict[str, asyncio.Event] = field(default_factory=dict)
    """Node -> what those wait for who wait for a change of its effects."""

    def add(self, pod: str, in_force: InForce) -> None:
        """The pod's effect is in force from now on."""
        self._by_pod[pod] = self._by_node.setdefault(in_force.node, {})[pod] = in_force
        self._anywhere.setdefault(in_force.effect, set()).add(pod)
        self._tell(in_force.node)

    def discard(self, pod: str) -> None:
        """The pod's effect is over."""
        over = self._by_pod.pop(pod, None)
        if over is None:
            return
        del self._by_node[over.node][pod]
        self._anywhere[over.effect].discard(pod)
        left = self._left.setdefault(over.node, [])
        if over.stays and over not in left:
            left.append(over)
        self._tell(over.node)

    def forget(self, node: str) -> None:
        """The machine is gone."""
        self.broken.pop(node, None)
        self.reimage(node)

    def reboot(self, node: str) -> None:
        """The machine has booted: what was written to its disk is there, what was loaded is not."""
        self._left[node] = [replace(each, modules=frozenset()) for each in self._left.get(node, ())]

    def reimage(self, node: str) -> None:
        """The machine has the disk of its node image again."""
        self._left.pop(node, None)

    def pods(self, node: str, effect: Effect) -> list[str]:
        """UIDs of the pods that have this effect on a node."""
        return [uid for uid, in_force in self._by_node.get(node, {}).items() if in_force.effect == effect]

    def pods_anywhere(self, effect: Effect) -> list[str]:
        """UIDs of the pods that have this effect on any node."""
        return list(self._anywhere.get(effect, ()))

    async def wait_provided(self, machine: Machine, effect: Effect) -> None:
        """Wait until a machine has what an effect provides."""
        while not self.provided(machine, effect):
            await self._changes.setdefault(machine.name, asyncio.Event()).wait()

    def _tell(self, node: str) -> None:
        if (change := self._changes.pop(node, None)) is not None:
            change.set()

    def holds(self, node: str, effect: Effect) -> bool:
        """True if an effect is in force on a node."""
        return bool(self.pods(node, effect))

    def provided(self, machine: Machine, effect: Effect) -> bool:
        """True if a machine has what an effect provides, from a pod or without one."""
        if effect == "amdDriver":  # whatever pod loaded it
            return AMDGPU in self.modules(machine)
        by_itself = (machine.host_gpu_driver and effect in _OF_THE_HOST) or (
            machine.image_has_drivers and effect == "gpuDevices"
        )
        return by_itself or self.holds(machine.name, effect)

    def modules(self, machine: Machine) -> frozenset[str]:
        """The kernel modules that a machine has loaded."""
        loaded = set(INBOX_MODULES)
        if machine.host_gpu_driver:
            loaded.update(GPU_MODULES)
        if machine.image_has_drivers:
            loaded.update(OFED_MODULES)
        for in_force in self._on(machine.name):
            loaded |= in_force.modules
        if machine.refuses_peermem or "nvidia" not in loaded:  # without the driver it cannot be loaded either
            loaded.discard(PEERMEM)
        return frozenset(loaded)

    def lifts_memlock(self, node: str) -> bool:
        """True if containers that start on a node now may lock all the memory they like."""
        return any(in_force.lifts_memlock for in_force in self._on(node))

    def toolkit(self, machine: Machine) -> Toolkit | None:
        """The container toolkit of a machine; None if it has none."""
        if not self.provided(machine, "containerToolkit"):
            return None
        there = self._on(machine.name)
        return Toolkit(
            is_default=machine.host_gpu_driver,
            by_variable=not any(in_force.hardens_toolkit for in_force in there),
            plugin_by_variable=any(in_force.gives_by_variable for in_force in there),
        )

    def _on(self, node: str) -> list[InForce]:
        return [*self._by_node.get(node, {}).values(), *self._left.get(node, ())]
