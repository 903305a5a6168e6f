"""A pod's requests that a rehearsal does not fulfil: said in an event of the pod, because the pod runs all the same."""

import os
import resource
from collections.abc import Iterator, Mapping
from typing import Any, Final

from rehearsal.machines.pods.running import RunningPod

_IDENTITIES: Final = ("runAsUser", "runAsGroup")


async def tell(pod: RunningPod, container: Mapping[str, Any], memlock: int | None) -> None:
    """Say it of a container that has started. memlock: what it may lock on its machine, in bytes; None: all."""
    _, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    here = None if hard == resource.RLIM_INFINITY else hard
    sentences = [
        *differing_users(container, pod.spec, {"runAsUser": os.geteuid(), "runAsGroup": os.getegid()}),
        *differing_limit(memlock, here),
    ]
    if sentences:
        await pod.tell("NotRehearsed", f"Container {container['name']}: {'; '.join(sentences)}")


def program(container: Mapping[str, Any]) -> str:
    """The program of a container."""
    return str((container.get("command") or ["(the image's entry point)"])[0])


async def tell_assumed(pod: RunningPod, container: str, program: str) -> None:
    """Say that a container's program is not run."""
    told = f"Container {container} is not run: simulated machines lack {program}. The run continues"
    await pod.tell("NotRehearsed", told, warning=True)


def differing_users(container: Mapping[str, Any], spec: Mapping[str, Any], ours: Mapping[str, int]) -> Iterator[str]:
    """The users and groups in a securityContext, if this computer's are others."""
    asked = {**(spec.get("securityContext") or {}), **(container.get("securityContext") or {})}
    for key in _IDENTITIES:
        if asked.get(key, ours[key]) != ours[key]:
            yield f"{key} {asked[key]} does nothing, a rehearsal runs every program as {ours[key]}, which started it"
    if asked.get("fsGroup") is not None:
        yield "fsGroup has no effect"


def differing_limit(memlock: int | None, here: int | None) -> Iterator[str]:
    """The difference, if this computer lets a program lock less memory than the machine would. In bytes; None: no
    limit.
    """
    if here is not None and (memlock is None or memlock > here):
        machines = "any amount of memory" if memlock is None else f"{memlock >> 10} KiB"
        yield f"ulimit -l shows {here >> 10} KiB, which is this computer's limit; the machine lets it lock {machines}"
