"""Cases of people's requests on a pool that is there, by Azure's own clients: Azure's answer to each step.

A case has what differs from the usual pool (`pool`) and subscription (`subscription`). `begin` does not wait for the
operation of its step, and `ended` does. An answer has the refusal, if Azure refuses, and what the step changed.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aks_infiniband_cli.azure.cluster import Aks
from aks_infiniband_cli.azure.errors import words_of
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError

from rehearsal.azure.cloud import NODE_IMAGE_RELEASE
from rehearsal.azure.node_images import newest_release
from rehearsal.azure.node_parts import BOOT_ANNOTATION, MACHINE_ANNOTATION
from rehearsal.run.latency import Latencies
from tests.cases import GONE, Case, changes, patched, replaced
from tests.simulator.unit.azure.asking import pool_inputs
from tests.simulator.unit.azure.cases.families import Conversation, without_made_up
from tests.simulator.unit.azure.people import clients, logged_in
from tests.simulator.unit.azure.pools import IN_PLACE, POOL, machines

NAME: Final = "nd"
USUAL: Final[Case] = {"count": 3, "upgradeSettings": IN_PLACE}


class Person:
    """A user with Azure's clients, and a pool of three machines. A method with a poller does not wait for its end."""

    def __init__(self, conversation: Conversation, pool: Case) -> None:
        self.azure = conversation.azure
        conversation.ask("cluster", {})
        cluster = conversation.made["cluster"]
        self.azure.create(POOL, NAME, **patched(pool_inputs(cluster, **USUAL), pool))
        self.place = (conversation.group["name"], cluster["name"])
        self.compute, self.aks = clients().compute.virtual_machine_scale_set_vms, clients().aks
        self.first = str(self.aks.agent_pools.get(*self.place, NAME).e_tag)
        self.under_way: Any = None
        self.seen: list[str] = []
        self.shown = self.state()

    def control_plane(self, version: str) -> Any:
        """Upgrade the cluster without its pool."""
        wanted = self.aks.managed_clusters.get(*self.place)
        wanted.kubernetes_version = version
        return self.aks.managed_clusters.begin_create_or_update(*self.place, wanted)

    def pool(self, change: Mapping[str, Any]) -> Any:
        """Change the pool, if nothing changed it since the conversation began (`if: FIRST`), or in any case."""
        there = self.aks.agent_pools.get(*self.place, NAME).as_dict(exclude_readonly=True)
        tag: dict[str, Any] = {"etag": self.first, "match_condition": MatchConditions.IfNotModified}
        wanted = {"nodeImageVersion": GONE, **{key: value for key, value in change.items() if key != "if"}}
        body = patched(there, {"properties": wanted})
        return self.aks.agent_pools.begin_create_or_update(*self.place, NAME, body, **(tag if "if" in change else {}))

    def image(self, name: str) -> Any:
        """Give a pool the newest node image."""
        return self.aks.agent_pools.begin_upgrade_node_image_version(*self.place, name)

    def delete(self, numbers: Sequence[int | str]) -> Any:
        """Delete machines, by their numbers or names."""
        names = [self.names()[each] if isinstance(each, int) else each for each in numbers]
        return self.aks.agent_pools.begin_delete_machines(*self.place, NAME, {"machineNames": names})

    def restart(self, number: int) -> Any:
        """Restart a machine."""
        return self.compute.begin_restart(*self.scale_set(), str(number))

    def redeploy(self, number: int) -> Any:
        """Move a machine to another host."""
        return self.compute.begin_redeploy(*self.scale_set(), str(number))

    def abort(self, name: str) -> None:
        """End what is under way."""
        self.aks.agent_pools.begin_abort_latest_operation(*self.place, name, polling=False)

    def release(self, release: str) -> None:
        """Let a newer node image be released."""
        (self.azure.cloud.store.folder / NODE_IMAGE_RELEASE).write_text(release)

    def hold(self, held: Mapping[str, Any]) -> None:
        """Let budgets hold the pods of machines: the drain fails, or if it is patient, waits."""
        self.azure.machines.held = {self.names()[number] for number in held["machines"]}
        self.azure.machines.patient = held.get("patient", False)

    def speed(self, speed: float) -> None:
        """Let time pass this much faster than it does."""
        self.azure.cloud.clock.latencies = Latencies(speed=speed)

    def names(self) -> list[str]:
        """The names of the pool's machines."""
        return sorted(node["metadata"]["name"] for node in machines(self.azure, NAME))

    def scale_set(self) -> tuple[str, str]:
        """The resource group and name of the pool's scale set."""
        parts = machines(self.azure, NAME)[0]["spec"]["providerID"].split("/")
        return parts[6], parts[10]

    def state(self) -> dict[str, Any]:
        """The pool as Azure shows it, its machines and their system, and the work of its drains since the last time."""
        drained, self.azure.machines.drained = self.azure.machines.drained, []
        told, self.azure.machines.told = self.azure.machines.told, []
        pool = self.aks.agent_pools.get(*self.place, NAME).as_dict()["properties"]
        profile = self.aks.agent_pools.get_upgrade_profile(*self.place, NAME).as_dict()["properties"]
        before = Aks(clients(), *self.place).next_of(NAME).before
        cluster = self.aks.managed_clusters.get(*self.place)
        state: dict[str, Any] = without_made_up(
            {
                "cluster": {"runs": cluster.current_kubernetes_version, "state": cluster.provisioning_state},
                "pool": pool,
                "next": [each["kubernetesVersion"] for each in profile.get("upgrades") or ()],
                "newest": profile["latestNodeImageVersion"],
                "had": [each["orchestratorVersion"] for each in profile.get("recentlyUsedVersions") or ()],
                "before": before,
                "listed": [each.name for each in self.aks.machines.list(*self.place, NAME)],
                "nodes": {node["metadata"]["name"]: self.system(node) for node in machines(self.azure, NAME)},
                "drained": drained,
                "cordoned": self.azure.machines.cordoned,
                "surge": [each for each in told if each.startswith("Surge")],
            }
        )
        return state

    def system(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """The system and the last start of a node; kernels, which depend on the day, and IDs have a number."""
        info, annotations = node["status"]["nodeInfo"], node["metadata"]["annotations"]
        kernel, uuid = info["kernelVersion"], info["systemUUID"]
        self.seen += [each for each in (kernel, uuid) if each not in self.seen]
        return {
            "kubelet": info["kubeletVersion"],
            "kernel": self.seen.index(kernel),
            "uuid": self.seen.index(uuid),
            "image": node["metadata"]["labels"]["kubernetes.azure.com/node-image-version"],
            **json.loads(annotations.get(BOOT_ANNOTATION, "{}")),
            "machine": json.loads(annotations[MACHINE_ANNOTATION]),
        }

    def answer(self, step: Case) -> dict[str, Any]:
        """Azure's refusal of a step, and what changed; while an operation is under way, its status."""
        ((verb, value),) = step.items()
        answer: dict[str, Any] = {}
        try:
            if verb == "begin":
                ((verb, value),) = value.items()
                self.under_way = getattr(self, verb)(value)
                pool = self.aks.agent_pools.get(*self.place, NAME)
                return {"status": self.under_way.status(), "pool": pool.provisioning_state}
            under_way, self.under_way = self.under_way, None if verb == "ended" else self.under_way
            poller = under_way if verb == "ended" else getattr(self, verb)(value)
            if poller is not None:
                poller.result()
        except HttpResponseError as error:
            answer = {"refused": without_made_up(f"{type(error).__name__}: {words_of(error)}")}
        if self.under_way is not None:
            return answer
        before, self.shown = self.shown, self.state()
        return {**answer, **changes(before, self.shown)}


def outcome_of_people(case: Case) -> list[dict[str, Any]]:
    """Azure's answers to the steps of a case."""
    now = replaced(case, "NEWEST", newest_release(datetime.now(tz=UTC).date()))
    conversation = Conversation(now.get("subscription", {}))
    with tempfile.TemporaryDirectory() as folder, logged_in(conversation.azure, Path(folder)):
        person = Person(conversation, now.get("pool", {}))
        return [person.answer(step) for step in now["steps"]]


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"people": outcome_of_people}
"""By the first word of a file's name, what gives the outcome of a case."""
