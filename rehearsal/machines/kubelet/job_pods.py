"""Executes pods of Jobs as a kubelet would, with the simulated machine's files, devices and programs."""

import asyncio
import shutil
from typing import Final

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.kubelet.device_manager import refusal
from rehearsal.machines.kubelet.execution import Execution
from rehearsal.machines.kubelet.kubelet import Kubelet
from rehearsal.machines.pods.running import RunningPod
from rehearsal.machines.pods.status import Verdict

_RECHECK_SECONDS: Final = 0.2


async def run(pod: RunningPod, machine: Machine, kubelet: Kubelet) -> None:
    """Execute a pod until it has ended or is deleted; the object of a deleted one is removed in the end."""
    execution = Execution(kubelet=kubelet, pod=pod, machine=machine)
    try:
        if not pod.deleted.is_set():
            await _execute(pod, execution)
    finally:
        execution.kill()
        await asyncio.shield(execution.claimed.unprepare())
        kubelet.devices.release(pod.document)
        kubelet.sandboxes.forget(pod.uid)
        pod.cluster.touch()
    if pod.deleted.is_set():
        shutil.rmtree(execution.folder, ignore_errors=True)
        await pod.remove()


async def _execute(pod: RunningPod, execution: Execution) -> None:
    refused = await _refusal(pod)
    if refused is not None:
        pod.verdict = Verdict(reason="UnexpectedAdmissionError", message=refused)
        await pod.report()
        return
    life = asyncio.create_task(execution.live())
    deleted = asyncio.create_task(pod.deleted.wait())
    try:
        deadline = pod.spec.get("activeDeadlineSeconds")
        done, _ = await asyncio.wait({life, deleted}, timeout=deadline, return_when=asyncio.FIRST_COMPLETED)
        if life in done:
            life.result()
            return
        if not done:
            pod.verdict = Verdict(
                reason="DeadlineExceeded", message="Pod was active on the node longer than the specified deadline"
            )
        await execution.stop(_grace_seconds(pod))
        await asyncio.wait({life}, timeout=1)
    finally:
        life.cancel()
        deleted.cancel()
    await pod.report()


async def _refusal(pod: RunningPod) -> str | None:
    """Say why the pod is not admitted. The check runs twice: the scheduler may have seen a change that we have yet to
    see.
    """
    for attempt in range(2):
        if attempt:
            await asyncio.sleep(_RECHECK_SECONDS)
        refused = None if pod.node is None else refusal(pod.document, pod.node, pod.cluster.of("Pod").values())
        if refused is None:
            return None
    return refused


def _grace_seconds(pod: RunningPod) -> float:
    if pod.gone:
        return 0
    seconds = pod.document["metadata"].get("deletionGracePeriodSeconds")
    return float(pod.spec.get("terminationGracePeriodSeconds", 30) if seconds is None else seconds)
