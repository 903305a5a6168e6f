"""The content of every machine's image store, and the pulls that fill it."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal.machines.pods.pod_faults import image_pulled
from rehearsal.machines.pods.running import RunningPod
from rehearsal.machines.pods.status import ContainerView
from rehearsal.run.images import image_bytes, pull_seconds
from rehearsal.run.latency import Latencies


@dataclass(kw_only=True)
class Images:
    """The images of all machines."""

    latencies: Latencies
    run_folder: Path
    _there: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    """Machine -> image -> when it is there, on the event loop's clock."""

    async def pull(self, pod: RunningPod, containers: Iterable[ContainerView]) -> None:
        """Pull the images of these containers that the pod's machine lacks, one after the other; says so in events.

        Pods that want an image at the same time share its pull, and what is there costs nothing.
        """
        for view in containers:
            await image_pulled(pod, view, self.run_folder)
            await self._pull(pod, view.image)

    def remember(self, pod: RunningPod) -> None:
        """Take note of the images of a pod that ran before this process was started."""
        there = asyncio.get_running_loop().time()
        for view in (*pod.init, *pod.containers):
            self._there[pod.spec["nodeName"]].setdefault(view.image, there)

    def forget(self, machine: str) -> None:
        """The machine is gone, and its disk with it."""
        self._there.pop(machine, None)

    async def _pull(self, pod: RunningPod, image: str) -> None:
        clock, store = asyncio.get_running_loop().time, self._there[pod.spec["nodeName"]]
        asked = clock()
        there = store.setdefault(image, asked + self.latencies.of(pull_seconds(image)))
        if there <= asked:
            return
        await pod.tell("Pulling", f'Pulling image "{image}"')
        await asyncio.sleep(there - clock())
        waited = _duration((there - asked) * self.latencies.speed)
        told = f'Successfully pulled image "{image}" in {_duration(pull_seconds(image))} ({waited} including waiting).'
        await pod.tell("Pulled", f"{told} Image size: {image_bytes(image)} bytes.")


def _duration(seconds: float) -> str:
    """As Go prints it."""
    minutes, rest = divmod(round(seconds, 3), 60)
    return f"{minutes:.0f}m{rest:.3f}s" if minutes else f"{rest:.3f}s"
