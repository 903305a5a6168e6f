"""Pods of behaviours.yaml: their containers' states over time, and their effect on the machine while they are ready."""

import asyncio
import logging
from dataclasses import dataclass, field

from rehearsal.latency import Latencies
from rehearsal.machines.behaviours import (
    Behaviour,
    Condition,
    Effect,
    InitContainerBehaviour,
    is_plugged_in,
    needs_ofed,
)
from rehearsal.machines.hardware import Hardware
from rehearsal.machines.pod_status import ContainerView, is_ready, running, terminated, waiting
from rehearsal.machines.pods import RunningPod, now

log = logging.getLogger(__name__)

_MISSING = {
    "rdma": "No mlx5 device found on this machine",
    "nvidiaGpu": "No NVIDIA GPU found on this machine",
}


@dataclass
class Effects:
    """Which effects are in force where: pod UID by node and effect."""

    _by_pod: dict[str, tuple[str, Effect]] = field(default_factory=dict)

    def add(self, pod: RunningPod, effect: Effect) -> None:
        """The pod's effect is in force from now on."""
        self._by_pod[pod.uid] = (pod.spec["nodeName"], effect)

    def discard(self, pod: RunningPod) -> None:
        """The pod's effect is over."""
        self._by_pod.pop(pod.uid, None)

    def pods(self, node: str, effect: Effect) -> list[str]:
        """UIDs of the pods that have this effect on a node."""
        return [uid for uid, entry in self._by_pod.items() if entry == (node, effect)]

    def holds(self, node: str, effect: Effect) -> bool:
        """Whether an effect is in force on a node."""
        return (node, effect) in self._by_pod.values()

    def holds_anywhere(self, effect: Effect) -> bool:
        """Whether an effect is in force on any node."""
        return any(one == effect for _, one in self._by_pod.values())


async def drive(
    pod: RunningPod, behaviour: Behaviour, hardware: Hardware, effects: Effects, latencies: Latencies
) -> None:
    """Play the pod's part until it is deleted; the object is removed in the end."""
    life = asyncio.create_task(_live(pod, behaviour, hardware, effects, latencies))
    deleted = asyncio.create_task(pod.deleted.wait())
    try:
        await asyncio.wait({life, deleted}, return_when=asyncio.FIRST_COMPLETED)
        if life.done():
            life.result()
    finally:
        life.cancel()
        deleted.cancel()
        effects.discard(pod)
        pod.cluster.touch()
    await pod.remove()


async def _live(
    pod: RunningPod, behaviour: Behaviour, hardware: Hardware, effects: Effects, latencies: Latencies
) -> None:
    if is_ready(pod.document):  # from before this process was started
        _show_ready(pod)
    else:
        await _become_ready(pod, behaviour, hardware, effects, latencies)
        if behaviour.effect_latency is not None:
            await asyncio.sleep(latencies.seconds(behaviour.effect_latency))
    if behaviour.provides is not None:
        effects.add(pod, behaviour.provides)
        pod.cluster.touch()
    while True:
        # The node lifecycle controller may have called the pod unready: a kubelet's next report corrects that.
        await pod.cluster.wait_until(lambda: not is_ready(pod.document))
        await pod.report()
        await pod.cluster.wait_until(lambda: is_ready(pod.document))


async def _become_ready(
    pod: RunningPod, behaviour: Behaviour, hardware: Hardware, effects: Effects, latencies: Latencies
) -> None:
    start = latencies.seconds("containerStart")
    await pod.report()
    await pod.volumes_mountable()
    for view in pod.init:
        step = behaviour.init_containers.get(view.name, InitContainerBehaviour())
        began = now()
        view.state = running(began)
        await pod.report()
        await _wait(pod, step.waits_for, hardware, effects)
        await asyncio.sleep(latencies.seconds(step.latency))
        view.state, view.ready = terminated(0, started=began, now=now()), True
    for view in pod.containers:
        view.state = waiting("ContainerCreating")
    await pod.report()
    await asyncio.sleep(min(start, latencies.seconds(behaviour.latency)))
    if not is_plugged_in(behaviour.requires, hardware):
        await _crash(pod, _MISSING[str(behaviour.requires)])
    for view in pod.containers:
        view.state = running(now())
    await pod.report()
    await _wait(pod, behaviour.waits_for, hardware, effects)
    await asyncio.sleep(max(0.0, latencies.seconds(behaviour.latency) - start))
    for view in pod.containers:
        view.ready = view.started = True
    await pod.report()


async def _wait(pod: RunningPod, condition: Condition | None, hardware: Hardware, effects: Effects) -> None:
    if condition is None:
        return
    if condition == "ofedForPeermem":
        if not needs_ofed(pod.document, hardware):
            return
        wanted: Effect = "ofed"
    else:
        wanted = condition
    node = pod.spec["nodeName"]
    if not effects.holds(node, wanted):
        log.info("pod %s/%s on %s waits for %s", pod.namespace, pod.name, node, wanted)
    await pod.cluster.wait_until(lambda: effects.holds(node, wanted))


async def _crash(pod: RunningPod, message: str) -> None:
    """End in CrashLoopBackOff for good: what is missing does not get plugged in."""
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
        recorded = {one["name"]: one for one in status.get(key) or []}
        for view in views:
            old = recorded.get(view.name, {})
            view.state = old.get("state") or running(now())
            view.ready, view.started = bool(old.get("ready")), bool(old.get("started"))
            view.restarts, view.last_state = old.get("restartCount", 0), old.get("lastState") or {}
