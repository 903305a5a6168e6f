"""Plays the pods of behaviours.yaml: their containers' states over time, and what they do to a machine while ready."""

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from rehearsal.machines.hardware.container_toolkit import hands_out_by_variable, hardens
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.kernel_modules import lifts_memlock
from rehearsal.machines.kubelet.images import Images
from rehearsal.machines.kubelet.log_server import log_file
from rehearsal.machines.network.sandbox import Sandboxes
from rehearsal.machines.pods.behaviours import (
    Behaviour,
    Condition,
    Effect,
    InitContainerBehaviour,
    clashes,
    is_plugged_in,
    needs_ofed,
)
from rehearsal.machines.pods.effects import Effects, InForce
from rehearsal.machines.pods.pod_faults import while_faulty
from rehearsal.machines.pods.running import RunningPod, now
from rehearsal.machines.pods.status import ContainerView, is_ready, running, terminated, waiting
from rehearsal.run.folder import RunFolder
from rehearsal.run.latency import Latencies

log = logging.getLogger(__name__)

_MISSING = {
    "rdma": "No mlx5 device found on this machine",
    "nvidiaGpu": "No NVIDIA GPU found on this machine",
    "amdGpu": "No AMD GPU found on this machine",
}


@dataclass(kw_only=True)
class Stage:
    """The shared parts of all pods of the table."""

    effects: Effects
    sandboxes: Sandboxes
    images: Images
    latencies: Latencies


async def drive(pod: RunningPod, behaviour: Behaviour, machine: Machine, stage: Stage) -> None:
    """Behave as the table says until the pod is deleted, then remove the object."""
    life = asyncio.create_task(_Life(pod=pod, behaviour=behaviour, machine=machine, stage=stage).live())
    deleted = asyncio.create_task(pod.deleted.wait())
    try:
        await asyncio.wait({life, deleted}, return_when=asyncio.FIRST_COMPLETED)
        if life.done():
            life.result()
    finally:
        life.cancel()
        deleted.cancel()
        stage.effects.discard(pod.uid)
        stage.sandboxes.forget(pod.uid)
        pod.cluster.touch()
    await pod.remove()


@dataclass(frozen=True, kw_only=True)
class _Life:
    """One pod on its machine, from its start on."""

    pod: RunningPod
    behaviour: Behaviour
    machine: Machine
    stage: Stage

    async def live(self) -> None:
        """Become ready, and stay so until cancelled."""
        pod = self.pod
        if is_ready(pod.document) and not pod.boots:  # from before this process was started
            _show_ready(pod)
            self.stage.sandboxes.remember(pod.document)
            self.stage.images.remember(pod)
        else:
            await self._become_ready()
            if self.behaviour.effect_latency is not None:
                await self._sleep(self.behaviour.effect_latency)
        self._take_effect()
        while True:
            # The node lifecycle controller may have called the pod unready: a kubelet's next report corrects that.
            await pod.wait_until(lambda: not is_ready(pod.document))
            await pod.report()
            await pod.wait_until(lambda: is_ready(pod.document))

    def _take_effect(self) -> None:
        if self.behaviour.provides is None:
            return
        in_force = InForce(
            node=self.machine.name,
            effect=self.behaviour.provides,
            modules=self.behaviour.modules(self.pod.document),
            lifts_memlock=self.behaviour.loads_named and lifts_memlock(self.pod.document),
            hardens_toolkit=hardens(self.pod.document),
            gives_by_variable=hands_out_by_variable(self.pod.document),
            stays=self.behaviour.loads_named or self.behaviour.stays,
        )
        self.stage.effects.add(self.pod.uid, in_force)
        self.pod.cluster.touch()

    async def _become_ready(self) -> None:
        pod, behaviour = self.pod, self.behaviour
        start = self.stage.latencies.seconds("containerStart")
        await pod.report()
        await pod.volumes_mountable()
        await self.stage.sandboxes.attach(pod, self.machine)
        for view in pod.init:
            step = behaviour.init_containers.get(view.name, InitContainerBehaviour())
            await self.stage.images.pull(pod, [view])
            began = now()
            view.state = running(began)
            await pod.report()
            if step.says is not None:
                said = log_file(RunFolder.at(self.stage.images.run_folder), pod.namespace, pod.name, view.name)
                said.parent.mkdir(parents=True, exist_ok=True)
                said.write_text(f"{step.says}\n")
            await self._wait(step.waits_for)
            await self._sleep(step.latency)
            view.state, view.ready = terminated(0, started=began, now=now()), True
        for view in pod.containers:
            view.state = waiting("ContainerCreating")
        await pod.report()
        await self.stage.images.pull(pod, pod.containers)
        latency = self.stage.latencies.seconds(behaviour.latency)
        await asyncio.sleep(min(start, latency))
        await self._crash_where_it_must()
        for view in pod.containers:
            view.state = running(now())
        if behaviour.waits_for is not None or latency > start:
            await pod.report()
            await self._wait(behaviour.waits_for)
            await asyncio.sleep(latency - start)
        if behaviour.never_ready_with is not None:
            await while_faulty(pod, behaviour.never_ready_with, self.stage.images.run_folder, lambda _: None)
        for view in pod.containers:
            view.ready = view.started = True
        await pod.report()

    async def _sleep(self, latency: str) -> None:
        await asyncio.sleep(self.stage.latencies.seconds(latency))

    async def _crash_where_it_must(self) -> None:
        if not is_plugged_in(self.behaviour.requires, self.machine.hardware):
            await _crash(self.pod, _MISSING[str(self.behaviour.requires)])
        node_info = ((self.pod.node or {}).get("status") or {}).get("nodeInfo", {})
        for crash in self.behaviour.crashes:
            if clashes(crash.when, self.pod.document, self.machine, node_info):
                if crash.breaks_node:
                    self.stage.effects.broken[self.machine.name] = crash.message
                    self.pod.cluster.touch()
                await _crash(self.pod, crash.message)
        await while_faulty(self.pod, "crash", self.stage.images.run_folder, self._show_crash)

    def _show_crash(self, fault: dict[str, Any]) -> None:
        for view in self.pod.containers:
            _show_crashed(view, str(fault["message"]))

    async def _wait(self, condition: Condition | None) -> None:
        if condition is None or (
            condition == "ofedForPeermem" and not needs_ofed(self.pod.document, self.machine.hardware)
        ):
            return
        wanted: Effect = "ofed" if condition == "ofedForPeermem" else condition
        effects, machine = self.stage.effects, self.machine
        if not effects.provided(machine, wanted):
            log.info("pod %s/%s on %s waits for %s", self.pod.namespace, self.pod.name, machine.name, wanted)
        await effects.wait_provided(machine, wanted)


async def _crash(pod: RunningPod, message: str) -> None:
    """End in CrashLoopBackOff for good: missing hardware stays missing."""
    for view in pod.containers:
        _show_crashed(view, message)
    await pod.report()
    await asyncio.get_running_loop().create_future()


def _show_crashed(view: ContainerView, message: str) -> None:
    moment = now()
    view.last_state = terminated(1, started=moment, now=moment, message=message)
    view.state = waiting("CrashLoopBackOff", f"back-off restarting failed container={view.name}")
    view.restarts = 1


def _show_ready(pod: RunningPod) -> None:
    """Views of a pod that was ready before this process was started: what its status says."""
    status = pod.document["status"]
    for views, key in ((pod.init, "initContainerStatuses"), (pod.containers, "containerStatuses")):
        recorded = {state["name"]: state for state in status.get(key) or []}
        for view in views:
            old = recorded.get(view.name, {})
            view.state = old.get("state") or running(now())
            view.ready, view.started = bool(old.get("ready")), bool(old.get("started"))
            view.restarts, view.last_state = old.get("restartCount", 0), old.get("lastState") or {}
