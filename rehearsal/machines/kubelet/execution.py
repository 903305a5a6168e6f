"""Executes one pod of a Job: its volumes, its init containers in order, its containers side by side, restarts."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.kubelet import not_rehearsed
from rehearsal.machines.kubelet.claimed_devices import ClaimedDevices
from rehearsal.machines.kubelet.container_start import Given, container_start
from rehearsal.machines.kubelet.containers import ContainerProcess, ContainerStart
from rehearsal.machines.kubelet.device_manager import HeldDevices
from rehearsal.machines.kubelet.environment import (
    InvalidReferenceError,
    MissingReferenceError,
)
from rehearsal.machines.kubelet.kubelet import Kubelet
from rehearsal.machines.kubelet.log_server import log_file
from rehearsal.machines.kubelet.programs import fresh_folder
from rehearsal.machines.kubelet.volumes import scratch, write_volume
from rehearsal.machines.nodes.patches import LOST
from rehearsal.machines.pods.pod_faults import fault_of, while_faulty
from rehearsal.machines.pods.running import RunningPod, now
from rehearsal.machines.pods.status import ContainerView, lose, running, terminated, waiting

log = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 1.0
# A kubelet starts a container again at once the first time, then after 10 s, doubled up to 5 min.
_BACK_OFF_SECONDS: Final = 10
_LONGEST_BACK_OFF_SECONDS: Final = 300


@dataclass(kw_only=True)
class Execution:
    """One pod's run on its machine."""

    kubelet: Kubelet
    pod: RunningPod
    machine: Machine
    claimed: ClaimedDevices = field(init=False)
    _volumes: dict[str, Path] = field(default_factory=dict)
    _processes: dict[str, ContainerProcess] = field(default_factory=dict)
    _devices: dict[str, HeldDevices] = field(default_factory=dict)
    _starts: Counter[str] = field(default_factory=Counter)
    _stopping: bool = False

    def __post_init__(self) -> None:
        self.claimed = ClaimedDevices(pod=self.pod, machine=self.machine)

    @property
    def folder(self) -> Path:
        """The folder of the pod's files."""
        return self.kubelet.run_folder.machines / "pods" / self.pod.uid

    async def live(self) -> None:
        """Run the pod until all its containers have ended for good."""
        pod, spec = self.pod, self.pod.spec
        if lose(pod.containers, pod.document.get("status") or {}, now()) and spec["restartPolicy"] == "Never":
            await pod.report()
            return
        await pod.report()
        await asyncio.sleep(self.kubelet.latencies.seconds("containerStart"))
        # A kubelet mounts first, and brings annotations in a volume up to date within its next minute.
        await self.kubelet.sandboxes.attach(pod, self.machine)
        await self._make_volumes()
        await self._allocate()
        sidecars: list[asyncio.Task[int]] = []
        try:
            for container, view in zip(spec.get("initContainers") or [], pod.init, strict=True):
                await self.kubelet.images.pull(pod, [view])
                if view.sidecar:
                    sidecars.append(asyncio.create_task(self._until_done(container, view, "Always")))
                    await pod.cluster.wait_until(lambda view=view: view.started)  # type: ignore[misc]
                elif await self._until_done(container, view, _until_it_succeeds(spec["restartPolicy"])) != 0:
                    return
                view.ready = True
            for view in pod.containers:
                view.state = waiting("ContainerCreating")
            await self.kubelet.images.pull(pod, pod.containers)
            await self._while_lost()
            async with asyncio.TaskGroup() as tasks:
                for container, view in zip(spec["containers"], pod.containers, strict=True):
                    tasks.create_task(self._until_done(container, view, spec["restartPolicy"]))
        finally:
            await self._end_sidecars(sidecars)
            await pod.report()

    async def stop(self, grace_seconds: float) -> None:
        """End every container, and start none again."""
        self._stopping = True
        await asyncio.gather(*(process.stop(grace_seconds) for process in self._processes.values()))

    def kill(self) -> None:
        """Kill every container that still runs, without waiting."""
        for process in self._processes.values():
            process.kill()

    async def _while_lost(self) -> None:
        """If the machine is to be lost now: wait until it answers again. The machine stays lost when the pod is
        deleted.
        """
        await asyncio.shield(self._lose())

    async def _lose(self) -> None:
        broken, node = self.kubelet.machines.effects.broken, self.machine.name

        def stop_answering(_: object) -> None:
            broken[node] = LOST
            self.pod.cluster.touch()

        try:
            await while_faulty(self.pod, "lost", self.kubelet.run_folder.root, stop_answering)
        finally:
            if broken.get(node) == LOST:
                del broken[node]
                self.pod.cluster.touch()

    async def _make_volumes(self) -> None:
        pod = self.pod
        folder = fresh_folder(self.folder) / "volumes"
        root = self.kubelet.machine_view(self.machine, pod).root
        while True:
            try:
                references = await self.kubelet.references(pod)
                for volume in pod.spec.get("volumes") or []:
                    self._volumes[volume["name"]] = await write_volume(
                        volume, folder, root, references, lambda claim: self.kubelet.token(pod, claim)
                    )
            except (MissingReferenceError, InvalidReferenceError) as error:
                log.warning("pod %s/%s: volumes cannot be mounted: %s", pod.namespace, pod.name, error)
                await asyncio.sleep(_RETRY_SECONDS)
            else:
                return

    async def _allocate(self) -> None:
        machines, machine = self.kubelet.machines, self.machine
        held = self.kubelet.devices.allocate_pod(self.pod.document, machine.hardware, machines.offered(machine))
        self._devices = await self.claimed.prepare(held, machines)

    async def _until_done(self, container: Mapping[str, Any], view: ContainerView, policy: str) -> int:
        """Run a container, again if the restart policy says so; returns its last exit code."""
        while True:
            code = await self._once(container, view)
            if self._stopping or policy == "Never" or (policy == "OnFailure" and code == 0):
                return code
            view.last_state = view.state
            pause = min(_BACK_OFF_SECONDS * 2 ** (view.restarts - 1), _LONGEST_BACK_OFF_SECONDS) if view.restarts else 0
            if pause:
                view.state = waiting(
                    "CrashLoopBackOff",
                    f"back-off {pause}s restarting failed container={view.name} pod={self.pod.name}",
                )
                await self.pod.report()
                await asyncio.sleep(pause / self.kubelet.latencies.speed)
            view.restarts += 1

    async def _once(self, container: Mapping[str, Any], view: ContainerView) -> int:
        pod = self.pod
        start = await self._prepared(container, view)
        self._starts[view.name] += 1
        output = log_file(self.kubelet.run_folder, pod.namespace, pod.name, view.name)
        began = now()
        if start.command is None:
            code, message = await self._assumed(container, view, began, not_rehearsed.program(container)), ""
        else:
            process = await ContainerProcess.start(
                start.command,
                start,
                log=output,
                fall_back_to_log=container.get("terminationMessagePolicy") == "FallbackToLogsOnError",
            )
            self._processes[view.name] = process
            await self._show_running(view, began)
            await not_rehearsed.tell(pod, container, start.memlock)
            code = await process.exit_code()
            message = process.message(code)
            if start.lacking and (program := process.lacked(code)):
                code, message = await self._assumed(container, view, began, program), ""
        log.info("pod %s/%s, container %s: exit code %d", pod.namespace, pod.name, view.name, code)
        view.ready = view.started = False
        view.state = terminated(code, started=began, now=now(), message=message)
        await pod.report()
        return code

    async def _show_running(self, view: ContainerView, began: str) -> None:
        view.state, view.ready, view.started = running(began), True, True
        await self.pod.report()
        self.pod.cluster.touch()

    async def _assumed(self, container: Mapping[str, Any], view: ContainerView, began: str, program: str) -> int:
        """Play a container whose program is not here: it runs for a moment, or serves until it is ended."""
        await self._show_running(view, began)
        await not_rehearsed.tell_assumed(self.pod, view.name, program)
        if self.pod.spec["restartPolicy"] == "Always" and container in self.pod.spec["containers"]:
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(self.kubelet.latencies.seconds("containerStart"))
        return 0

    async def _prepared(self, container: Mapping[str, Any], view: ContainerView) -> ContainerStart:
        """Collect all that the container needs; waits while something that it refers to is not there."""
        while True:
            try:
                references = await self.kubelet.references(self.pod)
                # A new one at each start: nothing is written into a folder in which an earlier program left something.
                folder = fresh_folder(self.folder / "containers" / f"{container['name']}.{self._starts[view.name]}")
                start = Given(
                    folder=folder,
                    volumes=self._volumes,
                    devices=self._devices.get(container["name"], HeldDevices()),
                    view=self.kubelet.machine_view(self.machine, self.pod),
                    programs=self.kubelet.programs,
                    variables={**self.kubelet.variables(), **self.kubelet.server()},
                    confinement=self.kubelet.confinement(
                        self.machine,
                        reads=self.folder / "volumes",
                        writes=(folder, *scratch(self.pod.document, self._volumes)),
                    ),
                    packages=fault_of(self.pod, "no-packages", self.kubelet.run_folder.root) is None,
                )
                return container_start(container, references, start)
            except (MissingReferenceError, InvalidReferenceError) as error:
                view.state = waiting("CreateContainerConfigError", str(error))
                await self.pod.report()
                await asyncio.sleep(_RETRY_SECONDS)

    async def _end_sidecars(self, sidecars: list[asyncio.Task[int]]) -> None:
        if sidecars:
            grace = float(self.pod.spec.get("terminationGracePeriodSeconds", 30))
            await self.stop(grace)
            await asyncio.wait(sidecars, timeout=1)
        for task in sidecars:
            task.cancel()


def _until_it_succeeds(policy: str) -> str:
    """The restart policy of an init container, by its pod's."""
    return "OnFailure" if policy == "Always" else policy
