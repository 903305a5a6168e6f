"""From the request to the result: reads stack file, Azure and cluster, plans, and carries the plan out."""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aks_infiniband.facts.azure_names import SHORT_AGENT_POOL_LABEL
from aks_infiniband.handwritten import json_document
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE
from aks_infiniband.stack.settings.mistakes import SettingsError
from aks_infiniband.stack.stack import Stack
from lightkube.resources.policy_v1 import PodDisruptionBudget

from aks_infiniband_cli.azure.clients import Clients
from aks_infiniband_cli.azure.cluster import UPGRADING, Aks, ClusterThere, Operation
from aks_infiniband_cli.azure.login import chosen_subscription, endpoint_of, login
from aks_infiniband_cli.azure.rehearsed import rehearsed
from aks_infiniband_cli.cluster import connected, operators_in
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.machine_by_machine.upgrade import ending, written
from aks_infiniband_cli.machine_by_machine.upgrade import plan as planning
from aks_infiniband_cli.machine_by_machine.upgrade.breaks import blocking, breaks
from aks_infiniband_cli.machine_by_machine.upgrade.hold import Holds
from aks_infiniband_cli.machine_by_machine.upgrade.machines import PoolUpgrade, Stopped
from aks_infiniband_cli.machine_by_machine.upgrade.operations import wait
from aks_infiniband_cli.machine_by_machine.upgrade.owned import owned, refuse_strange
from aks_infiniband_cli.preflight.images import images, images_of
from aks_infiniband_cli.preflight.registry import Registries
from aks_infiniband_cli.stack_file import configuration_of, stack_of
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import choose, name_of
from aks_infiniband_cli.validate.run import Cluster, Say
from aks_infiniband_cli.validate.validating import read_cluster

_CLUSTER = "aks-infiniband:cluster"
_POOLS = "aks-infiniband:pools"


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """The user's request. kubernetes: None for node images; pools: empty for all."""

    file: Path
    kubernetes: str | None = None
    pools: Sequence[str] = ()
    subscription: str | None = None
    endpoint: str | None = None
    namespace: str = SYSTEM_NAMESPACE
    include_busy: bool = False
    each: bool = True
    ready_seconds: float = 1800


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The steps to do, and the facts to know before."""

    steps: Sequence[planning.Step]
    breaks: Sequence[str] = ()


@dataclass(kw_only=True, slots=True)
class Done:
    """The result."""

    plan: Plan
    done: list[str] = field(default_factory=list)
    stopped: Stopped | None = None
    written: bool = False
    """True if the stack file was changed."""


class Upgrade:
    """One upgrade of one stack's cluster, or of the node pools that it has taken over. All raises CommandError."""

    def __init__(self, kubeconfig: str, wish: Wish, say: Say) -> None:
        self._wish, self._say = wish, say
        configuration = configuration_of(wish.file)
        self._now = _stack(wish.file, configuration)
        self._owned = owned(self._now, wish.file)
        self._then = self._now
        if wish.kubernetes and self._owned.whole:
            self._then = _stack(wish.file, _with(configuration, wish.kubernetes), wish.kubernetes)
        chosen = chosen_subscription(wish.subscription, configuration)
        place = (self._owned.resource_group, self._owned.cluster)
        self._aks = Aks(Clients(login(), wish.endpoint or endpoint_of(configuration), chosen), *place)
        self._cluster = Cluster(client=connected(kubeconfig), kubeconfig=kubeconfig)

    def plan(self) -> Plan:
        """The steps to do. Raises CommandError for a request that Azure would refuse, and if machines are busy."""
        there = self._aks.read()
        validations, nodes, pods = read_cluster(self._cluster.client, self._wish.namespace)
        by_pool = _by_pool(nodes)
        chosen = self._chosen(there)
        several = {name for name, pool in there.pools.items() if pool.count > 1}  # a node is away while it is reimaged
        measured = [name for name in self._owned.pools if name in validations and name in several]
        steps = [*self._control_plane(there), *planning.pools(there, self._targets(chosen), by_pool, measured)]
        planning.refuse_many_at_once(there, steps)
        waiting = [step.name for step in steps if step.kind == "measured pool" and step.machines]
        self._refuse_busy([validations[name] for name in waiting], nodes, pods)
        self._refuse_cordoned({name: by_pool[name] for name in waiting}, there)
        budgets = [budget.to_dict() for budget in self._cluster.client.list(PodDisruptionBudget, namespace="*")]
        going = [node for step in steps for node in by_pool.get(step.name, ()) if not step.target.reached_by(node)]
        known = [*breaks(there, steps, self._then.operators.release), *self._unmeasured(steps), *self._images()]
        return Plan(steps=steps, breaks=[*known, *blocking(budgets, pods, going)])

    def carry_out(self, planned: Plan) -> Done:
        """Do what is planned; it ends at the first pool that stops."""
        result = Done(plan=planned)
        validations, _, _ = read_cluster(self._cluster.client, self._wish.namespace)
        for number, step in enumerate(planned.steps, start=1):
            self._say(f"Step {number} of {len(planned.steps)}: {step.kind} {step.name}")
            note(f"step {number} of {len(planned.steps)}: {step.kind} {step.name}, to {step.target}")
            if step.kind == "control plane":
                wait(self._aks.upgrade_control_plane(str(step.target.kubernetes)), "the control plane")
            elif step.kind == "pool":
                wait(self._begin(step), f"pool {step.name}")
            else:
                self._holds(step.name).request_stop(stop=False)
                try:
                    result.stopped = self._upgrade_of(step, validations[step.name]).carried_out()
                finally:
                    result.written |= self._write_down()
            result.written |= self._write_down()
            if result.stopped:
                return result
            result.done.append(f"{step.kind} {step.name}")
            note(f"done: {step.kind} {step.name} has {step.target}")
        return result

    def stop(self) -> list[str]:
        """End what is under way, and have the command that does it end; the pools that it was under way on."""
        refuse_strange(self._wish.pools, self._owned.pools)
        pools = self._owned.among(self._aks.read().pools)
        return ending.stop(self._aks, list(map(self._holds, pools)), pools)

    def release(self) -> list[str]:
        """Release the machines that are held, whatever was measured; their names."""
        refuse_strange(self._wish.pools, self._owned.pools)
        return [node for pool in self._wish.pools or self._owned.pools for node in self._holds(pool).release()]

    def back(self) -> list[str]:
        """Roll pools back to what they had before; what they have now."""
        refuse_strange(self._wish.pools, self._owned.among(self._aks.read().pools))
        pools = self._wish.pools or [name for name in self._owned.pools if self._holds(name).nodes()]
        if not pools:
            raise CommandError("no machine is held: --pool says which pool is to go back")
        now = ending.back(self._aks, list(map(self._holds, pools)), self._say)
        self._write_down()
        return now

    def _holds(self, pool: str) -> Holds:
        return Holds(client=self._cluster.client, pool=pool, namespace=self._wish.namespace)

    def _chosen(self, there: ClusterThere) -> list[str]:
        pools = self._owned.among(there.pools)
        refuse_strange(self._wish.pools, pools)
        return list(self._wish.pools or pools)

    def _targets(self, chosen: Sequence[str]) -> dict[str, planning.Target]:
        if self._wish.kubernetes:
            return dict.fromkeys(chosen, planning.Target(kubernetes=self._wish.kubernetes))
        return {name: planning.Target(image=self._aks.next_of(name).image) for name in chosen}

    def _control_plane(self, there: ClusterThere) -> Iterator[planning.Step]:
        wanted = self._wish.kubernetes
        if wanted and not self._owned.whole:
            self._owned.require_control_plane(there, wanted)
        elif wanted:
            after = self._aks.after(there.version, there.location)
            yield from planning.control_plane(there, wanted, after)

    def _refuse_busy(self, validations: Sequence[Deployed], nodes: Sequence[Object], pods: Sequence[Object]) -> None:
        operators = operators_in(self._cluster.client)
        busy = [
            f"{left.node}: {left.why}"
            for validation in validations
            for left in choose(nodes, pods, validation, wanted=(), include_busy=False, operators=operators)[1]
            if left.busy
        ]
        if busy and not self._wish.include_busy:
            raise CommandError(
                f"machines are in use, and draining ends what runs there: {'; '.join(busy)}. --include-busy"
            )

    def _refuse_cordoned(self, nodes: Mapping[str, Sequence[Object]], there: ClusterThere) -> None:
        """A cordoned machine cannot be measured, nor told from one that AKS drains: one alone, while it upgrades."""
        for pool, its in nodes.items():
            held = self._holds(pool).nodes()
            cordoned = [
                name_of(node) for node in its if node["spec"].get("unschedulable") and name_of(node) not in held
            ]
            drained = 1 if there.pools[pool].state in UPGRADING else 0
            if len(cordoned) > drained:
                raise CommandError(f"machines of pool {pool} are cordoned: kubectl uncordon {' '.join(cordoned)}")

    def _unmeasured(self, steps: Sequence[planning.Step]) -> Iterator[str]:
        infiniband = {pool.name for pool in self._now.pools}
        for step in steps:
            if step.name in infiniband and step.kind == "pool":
                yield f"pool {step.name}: is not measured, for it has one machine, or no validation"

    def _images(self) -> Iterator[str]:
        """Images for the upgraded nodes that no registry has; a rehearsal pulls none."""
        if rehearsed() is None:
            with Registries() as registries:
                for line in images(images_of(self._then), registries.platforms):
                    if line.state != "pass":
                        yield f"{line.check}: {line.found}"

    def _upgrade_of(self, step: planning.Step, validation: Deployed) -> PoolUpgrade:
        def request() -> Operation:
            operation = self._begin(step)
            self._write_down()  # Azure has other versions from now on
            return operation

        return PoolUpgrade(
            cluster=self._cluster,
            aks=self._aks,
            validation=validation,
            target=step.target,
            each=self._wish.each,
            ready_seconds=self._wish.ready_seconds,
            request=request,
            say=self._say,
        )

    def _begin(self, step: planning.Step) -> Operation:
        if step.target.kubernetes:
            return self._aks.upgrade_pool(step.name, step.target.kubernetes)
        return self._aks.upgrade_image(step.name)

    def _write_down(self) -> bool:
        """Have the stack file say what Azure has; that of a cluster of others says no version."""
        if not self._owned.whole:
            return False
        there = self._aks.read()
        asked = {name: there.pools[name].asked for name in self._owned.pools if name in there.pools}
        return written.write(self._wish.file, written.Versions(cluster=there.asked, pools=asked))


def _stack(file: Path, configuration: Mapping[str, Any], wanted: str | None = None) -> Stack:
    try:
        return stack_of(file, configuration)
    except SettingsError as error:
        beginning = f"with Kubernetes {wanted} {file} has" if wanted else f"{file} has"
        raise CommandError(f"{beginning} mistakes: {error}") from error


def _with(configuration: Mapping[str, Any], version: str) -> Mapping[str, Any]:
    """A stack's final configuration: no pool has a separate version."""
    changed = copy.deepcopy(dict(configuration))
    cluster, pools = _read(changed[_CLUSTER]), _read(changed.get(_POOLS) or [])
    for pool in pools:
        pool.pop(written.KEY, None)
    return {**changed, _CLUSTER: {**cluster, written.KEY: version}, _POOLS: pools}


def _read(value: Any) -> Any:
    """A value of the configuration, which the loader takes as JSON, too. The configuration has been loaded before."""
    return json_document(value) if isinstance(value, str) else value


def _by_pool(nodes: Sequence[Object]) -> dict[str, list[Object]]:
    pools: dict[str, list[Object]] = {}
    for node in nodes:
        pools.setdefault(str((node["metadata"].get("labels") or {}).get(SHORT_AGENT_POOL_LABEL)), []).append(node)
    return pools
