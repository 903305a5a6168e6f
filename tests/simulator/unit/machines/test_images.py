"""The duration of pulling an image, and the pods that wait for it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from rehearsal.machines.kubelet.images import Images
from rehearsal.machines.pods.running import RunningPod
from rehearsal.machines.pods.status import ContainerView, views_of, waiting
from rehearsal.run.images import image_bytes, pull_seconds
from rehearsal.run.latency import Latencies

PYTORCH = "nvcr.io/nvidia/pytorch:25.12-py3"
PULL_SECONDS = pull_seconds(PYTORCH)


class Clockwork(asyncio.SelectorEventLoop):
    """An event loop whose time does not pass but jumps: to the next timer, once nothing else is left to do."""

    moment = 0.0

    def time(self) -> float:
        return self.moment

    def _run_once(self) -> None:
        if self._scheduled and not self._ready:  # type: ignore[attr-defined]
            self.moment = max(self.moment, self._scheduled[0].when())  # type: ignore[attr-defined]
        super()._run_once()  # type: ignore[misc]


@dataclass
class Pod:
    """As much of a running pod as its images need."""

    machine: str = "node-0"
    name: str = "pod-0"
    image: str = PYTORCH
    said: list[tuple[float, str, str]] = field(default_factory=list)
    init: tuple[ContainerView, ...] = ()

    @property
    def spec(self) -> dict[str, Any]:
        return {"nodeName": self.machine}

    @property
    def containers(self) -> list[ContainerView]:
        return views_of([{"name": "main", "image": self.image}], waiting("ContainerCreating"))

    async def tell(self, reason: str, message: str) -> None:
        self.said.append((asyncio.get_running_loop().time(), reason, message))


async def pull(images: Images, pod: Pod, *, after: float = 0) -> float:
    """When the pod's containers can be made."""
    await asyncio.sleep(after)
    await images.pull(cast("RunningPod", pod), pod.containers)
    return asyncio.get_running_loop().time()


def run(coroutine: Coroutine[Any, Any, list[float]]) -> list[float]:
    with asyncio.Runner(loop_factory=Clockwork) as runner:
        return runner.run(coroutine)


async def together(*pods: Pod, after: tuple[float, ...], speed: float = 1) -> list[float]:
    images = Images(latencies=Latencies(speed=speed), run_folder=Path("without faults"))
    pulls = (pull(images, pod, after=seconds) for pod, seconds in zip(pods, after, strict=True))
    return list(await asyncio.gather(*pulls))


def test_ten_gigabytes_take_minutes_and_a_mirrors_copy_as_long() -> None:
    assert 120 < PULL_SECONDS < 240
    for mirrored in ("acr.example:5000/mirror/nvidia/pytorch", "acr.example/nvidia/pytorch@sha256:0123"):
        assert pull_seconds(mirrored) == PULL_SECONDS
    assert image_bytes("nvcr.io/nvidia/mellanox/doca-driver:1-ubuntu24.04") > image_bytes("nvcr.io/nvidia/mellanox/x:1")
    assert image_bytes("registry.invalid/main") > 0


def test_both_rates_together_give_what_a_kubelet_was_seen_to_take() -> None:
    seconds_per_byte = PULL_SECONDS / image_bytes(PYTORCH)
    assert seconds_per_byte * 4_149_299_364 == pytest.approx(82.0, rel=0.01)


def test_what_the_node_image_has_costs_nothing_and_is_told_to_nobody() -> None:
    pod = Pod(image="mcr.microsoft.com/oss/v2/kubernetes/pause:3.6")
    assert run(together(pod, after=(3,))) == [3]
    assert pod.said == []


def test_pods_of_a_machine_share_a_pull_and_what_is_there_costs_nothing() -> None:
    first, second, late, elsewhere = Pod(), Pod(), Pod(), Pod(machine="node-1")
    ready = run(together(first, second, late, elsewhere, after=(0, 10, 1000, 20)))
    assert ready == pytest.approx([PULL_SECONDS, PULL_SECONDS, 1000, 20 + PULL_SECONDS])
    assert late.said == []


def test_a_pull_is_told_in_events_with_its_real_duration_and_size() -> None:
    first, second = Pod(), Pod()
    run(together(first, second, after=(0, 1), speed=10))
    (began, pulling, _), (ended, pulled, message) = first.said
    assert (pulling, pulled) == ("Pulling", "Pulled")
    assert ended - began == pytest.approx(PULL_SECONDS / 10)
    minutes, seconds = divmod(round(PULL_SECONDS, 3), 60)
    own = f"{minutes:.0f}m{seconds:.3f}s"
    assert message == (
        f'Successfully pulled image "{PYTORCH}" in {own} ({own} including waiting). Image size: 8569000000 bytes.'
    )
    assert f"in {own} ({minutes:.0f}m{seconds - 10:.3f}s including waiting)" in second.said[1][2]


def test_a_machine_that_is_gone_takes_its_images_along() -> None:
    async def twice() -> list[float]:
        images = Images(latencies=Latencies(speed=1), run_folder=Path("without faults"))
        first = await pull(images, Pod())
        images.forget("node-0")
        return [first, await pull(images, Pod())]

    assert run(twice()) == pytest.approx([PULL_SECONDS, 2 * PULL_SECONDS])


def test_the_images_of_a_pod_from_before_this_process_are_there() -> None:
    async def remembered() -> list[float]:
        images = Images(latencies=Latencies(speed=1), run_folder=Path("without faults"))
        images.remember(cast("RunningPod", Pod()))
        return [await pull(images, Pod())]

    assert run(remembered()) == [0]
