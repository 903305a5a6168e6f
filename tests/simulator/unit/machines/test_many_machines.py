"""Events on one machine do not concern a wait for another: a data centre may have a thousand."""

import asyncio
from typing import Any

import pytest

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.pods.by_node import PodsByNode
from rehearsal.machines.pods.effects import Effects, InForce
from rehearsal.machines.pods.running import RunningPod
from rehearsal.watch.cluster import Cluster
from tests.simulator.unit.machines.test_behaviours import H100
from tests.unit.validation.test_scaling import lines_of_code


def pod(name: str, node: str | None = None, version: int = 1) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(version)}
    return {"metadata": metadata, "spec": {"containers": [], **({"nodeName": node} if node else {})}}


def machine(number: int) -> Machine:
    return Machine(name=f"n{number}", hardware=H100)


def test_what_a_machine_has_is_found_without_going_through_all_others() -> None:
    effects = Effects()

    def lines(machines: int) -> int:
        for number in range(machines):
            effects.add(f"uid-{number}", InForce(node=f"n{number}", effect="ofed"))
        return lines_of_code(lambda: (effects.modules(machine(0)), effects.provided(machine(0), "ofed")))

    assert lines(2) == lines(1000)


def test_who_waits_for_an_effect_is_woken_by_its_own_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    effects, looks = Effects(), list[str]()
    provided = effects.provided

    def look(found: Machine, effect: Any) -> bool:
        looks.append(found.name)
        return provided(found, effect)

    monkeypatch.setattr(effects, "provided", look)

    async def wait() -> None:
        waiting = asyncio.create_task(effects.wait_provided(machine(0), "ofed"))
        for number in range(1, 50):
            effects.add(f"uid-{number}", InForce(node=f"n{number}", effect="ofed"))
            await asyncio.sleep(0)
        effects.add("other", InForce(node="n0", effect="multus"))
        await asyncio.sleep(0)
        effects.add("uid-0", InForce(node="n0", effect="ofed"))
        await waiting

    asyncio.run(wait())
    assert looks == ["n0"] * 3


def test_a_pod_waits_for_changes_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait() -> list[int]:
        running = RunningPod(cluster=Cluster(None, ["Pod"]), document=pod("mine", "n0"))  # type: ignore[arg-type]
        looks = list[int]()

        def there() -> bool:
            looks.append(int(running.document["metadata"]["resourceVersion"]))
            return looks[-1] == 3

        waiting = asyncio.create_task(running.wait_until(there))
        await asyncio.sleep(0)
        running.cluster.touch()
        await asyncio.sleep(0)
        for version in (2, 3):
            running.seen(pod("mine", "n0", version), gone=False)
            await asyncio.sleep(0)
        await waiting
        return looks

    assert asyncio.run(wait()) == [1, 2, 3]


def test_the_pods_of_a_node_are_those_that_are_bound_to_it_and_not_gone() -> None:
    pods = PodsByNode()
    pods.hear("Pod", pod("waiting"), False)
    pods.hear("Pod", pod("mine", "n0"), False)
    pods.hear("Pod", pod("other", "n1"), False)
    pods.hear("Pod", pod("mine", "n0", 2), False)
    pods.hear("Node", {"metadata": {"name": "n0"}, "spec": {}}, False)
    assert [found["metadata"]["resourceVersion"] for found in pods.on("n0")] == ["2"]
    pods.hear("Pod", pod("mine", "n0", 2), True)
    pods.hear("Pod", pod("waiting"), True)
    assert (pods.on("n0"), len(pods.on("n1"))) == ([], 1)
