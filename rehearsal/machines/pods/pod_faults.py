"""The obstacles to running pods: faults of the run that concern a pod, in force until the file no longer names them."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from rehearsal.faults import machine_faults
from rehearsal.faults.checking import FaultsError
from rehearsal.faults.registries import kubelets_words
from rehearsal.machines.pods.running import RunningPod
from rehearsal.machines.pods.status import ContainerView, waiting

log = logging.getLogger(__name__)

_LOOK_SECONDS: Final = 0.5


async def image_pulled(pod: RunningPod, view: ContainerView, run_folder: Path) -> None:
    """Until the image of one of the pod's containers can be pulled."""
    before = view.state

    def shown(fault: dict[str, Any]) -> None:
        view.state = waiting("ImagePullBackOff", kubelets_words(view.image, str(fault["answer"])))

    if await while_faulty(pod, "image-pull", run_folder, shown):
        view.state = before
        await pod.report()


async def while_faulty(pod: RunningPod, name: str, run_folder: Path, show: Callable[[dict[str, Any]], None]) -> bool:
    """Show a fault for as long as it concerns the pod; whether it did at all. show: changes the containers' views."""
    met = False
    while fault := fault_of(pod, name, run_folder):
        if not met:
            show(fault)
            await pod.report()
        met = True
        await asyncio.sleep(_LOOK_SECONDS)
    return met


def fault_of(pod: RunningPod, name: str, run_folder: Path) -> dict[str, Any] | None:
    """The fault of a name that concerns a pod now; None if there is none."""
    try:
        faults = machine_faults.read(run_folder)
    except FaultsError as error:
        log.error("the faults of pod %s/%s are unreadable: %s", pod.namespace, pod.name, error)
        return None
    return machine_faults.concerning(faults, name, str(pod.spec["nodeName"]), pod=pod.name)
