"""Everything inside a cluster that makes its machines talk RDMA: operators, policies, networks, validation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.dranet import Dranet
from aks_infiniband.hosts.node_preparation import NodePreparation
from aks_infiniband.hosts.peermem import PeermemLoader
from aks_infiniband.hosts.toolkit_hardening import ToolkitHardening
from aks_infiniband.light_check import LightCheck
from aks_infiniband.observability import Observability
from aks_infiniband.operators.driver_turns import DriverTurns
from aks_infiniband.operators.existing_network_operator import ExistingNetworkOperator
from aks_infiniband.operators.ipoib import IpoibNetwork
from aks_infiniband.operators.network_operator import NetworkOperator
from aks_infiniband.operators.nic_policy import NicClusterPolicy, NicNodePolicy
from aks_infiniband.resources import metadata
from aks_infiniband.resources.namespaces import namespace_of_ours
from aks_infiniband.resources.options import child_options
from aks_infiniband.resources.registry import RegistryCredentials, RegistryCredentialsArgs
from aks_infiniband.stack import gpus
from aks_infiniband.stack.image_owners import agreed
from aks_infiniband.stack.pool_outputs import pool_outputs, sample_of
from aks_infiniband.stack.stack import Stack
from aks_infiniband.validation import Validation, ValidationAccess
from aks_infiniband.workload import pods
from aks_infiniband.workload.guard import WorkloadGuard
from aks_infiniband.workload.pool_topology import PoolTopology
from aks_infiniband.workload.settings import WorkloadSettings


@dataclass(frozen=True, kw_only=True)
class RdmaSoftwareArgs:
    """The arguments of an RdmaSoftware."""

    stack: Stack
    """The stack file, resolved."""
    kubeconfig: pulumi.Input[str]
    """With it a failed wait is explained."""
    pools_ready: Mapping[str, pulumi.Input[pulumi.Resource]] = field(default_factory=dict)
    """By pool, what says that its machines are there; none for machines that are there already."""


class RdmaSoftware(pulumi.ComponentResource):
    """Everything inside the cluster. Nothing waits for what it does not need."""

    pools: dict[str, dict[str, Any]]
    """By pool: vmSize, nodeCount, mode, rdmaResource, and of its validation verdict, coverage and finished."""
    sample_jobs: dict[str, pulumi.Output[dict[str, Any]]]
    """By pool, a List that kubectl applies as it is."""

    def __init__(self, name: str, *, args: RdmaSoftwareArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:RdmaSoftware", name, None, opts)
        self._name, self._args, self._opts = name, args, child_options(self, opts)
        stack, kubeconfig, system = args.stack, args.kubeconfig, self._system()
        # The cluster's owner is recorded there, so it comes before all else, and goes after it.
        self._opts = self._after(system[0])
        # Resources that wait by looking begin once the cluster has accepted an object of ours, and not if it refuses.
        looked_at = pulumi.Output.all(kubeconfig, system[0].urn).apply(lambda both: str(both[0]))
        workloads, preparation = self._workloads(), stack.node_preparation(kubeconfig)
        # Preparation restarts the kubelet, so it comes before every device plugin and every pod that holds a device.
        prepared = self._on_machines(NodePreparation, "node-preparation", preparation, system)
        turns = self._turns()
        ground = gpus.Ground(name=name, stack=stack, kubeconfig=looked_at, after=self._after, machines=self._machines)
        owners = agreed(stack.pools, args.pools_ready, kubeconfig)
        # A preparation that only loads modules restarts no kubelet, and the GPUs' device plugin needs none of them.
        driven, releases = gpus.nvidia(ground, turns, *owners, *(prepared if stack.memlock else ()))
        driven += self._on_machines(PeermemLoader, "peermem", stack.peermem(kubeconfig), system)
        hardened = stack.toolkit_hardening(kubeconfig)
        driven += self._on_machines(ToolkitHardening, "toolkit-hardening", hardened, system)
        network = self._network_operator()
        infiniband: list[pulumi.Input[pulumi.Resource]]
        node_policies: Mapping[str, Sequence[pulumi.Resource]] = {}
        theirs = stack.existing_network_operator(looked_at)
        if theirs is None:
            policy = self._cluster_policy(turns, [*network, *prepared, *releases, *owners])
            node_policies = self._node_policies(policy, turns)
            infiniband = [policy, *self._networks(policy, workloads)]
        else:
            awaited = ExistingNetworkOperator(f"{name}-network-operator", args=theirs, opts=self._after(*prepared))
            infiniband = [awaited.ready]
        driven += gpus.amd(ground, discovery=network, network=infiniband)
        infiniband += self._on_machines(Dranet, "dranet", stack.dranet(kubeconfig), [*system, *prepared])
        for pull in stack.image_pulls():  # after the preparation, which may restart containerd
            pull.create(name, namespace=metadata.SYSTEM_NAMESPACE, opts=self._after(*system, *prepared))
        self._observability(system)
        drivers = gpus.nvlink(ground)
        domains = [driver.release for driver in drivers]
        workload_settings = WorkloadSettings(
            f"{name}-workload", args=stack.workload_settings(), opts=self._after(*workloads, *domains)
        )
        ready = [*system, *prepared, *infiniband, *driven, *drivers]
        access = self._validation_access(system, domains)
        validations = {
            pool.name: self._validation(pool, access, turns, [*ready, *node_policies.get(pool.name, ())])
            for pool in stack.pools
        }
        self._once_validated(validations)
        self.pools = {pool.name: pool_outputs(pool, validations[pool.name]) for pool in stack.pools}
        self.sample_jobs = {pool.name: self._sample(pool, workload_settings) for pool in stack.pools}
        self.register_outputs({})  # the pools are outputs of the stack

    def _sample(self, pool: Pool, settings: WorkloadSettings) -> pulumi.Output[dict[str, Any]]:
        """The sample Job; it is known once the ConfigMaps exist to which it refers."""
        job = sample_of(self._args.stack, pool)
        return settings.config_maps[pool.name].apply(lambda _: job)

    def _after(self, *others: pulumi.Input[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(self._opts, pulumi.ResourceOptions(depends_on=list(others)))

    def _machines(self, pools: Sequence[Pool]) -> list[pulumi.Input[pulumi.Resource]]:
        """The resources that exist once the machines of these pools do."""
        ready = self._args.pools_ready
        return [ready[pool.name] for pool in pools if pool.name in ready]

    def _namespace(self, name: str, place: str, part: str, *after: pulumi.Resource) -> kubernetes.core.v1.Namespace:
        hooks = diagnosis.on_error(f"{self._name}-{name}", waiting_for="namespace", kubeconfig=self._args.kubeconfig)
        return kubernetes.core.v1.Namespace(
            f"{self._name}-{name}",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(**namespace_of_ours(place, part)["metadata"]),
            opts=pulumi.ResourceOptions.merge(self._after(*after), pulumi.ResourceOptions(hooks=hooks)),
        )

    def _credentials(self, *places: str, after: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        credentials = self._args.stack.registry_credentials
        if credentials is None:
            return []
        return [
            RegistryCredentials(
                f"{self._name}-{place}",
                args=RegistryCredentialsArgs(namespace=place, docker_config=credentials),
                opts=self._after(*after),
            )
            for place in places
        ]

    def _workloads(self) -> list[pulumi.Resource]:
        """The namespace of workloads, in which pods may lock memory and have nothing of the machines' or of ours.

        The namespace is made after its guard: if the guard fails, or `up` ends before it, no namespace is left
        privileged.
        """
        stack, name = self._args.stack, f"{self._name}-workload"
        wanted = stack.workload_guard()
        guards = [] if wanted is None else [WorkloadGuard(name, args=wanted, opts=self._opts)]
        namespace = self._namespace("workload", pods.NAMESPACE, "workload", *guards)
        theirs = self._theirs() if stack.settings.workload.create_namespaces else []
        places = stack.namespaces if stack.workloads_pull else ()
        return [namespace, *theirs, *self._credentials(*places, after=[namespace, *theirs])]

    def _theirs(self) -> list[pulumi.Resource]:
        """The namespaces of others. An existing one stays as it is. None is deleted with the stack, because what others
        have put into it would be deleted too.
        """
        kept = pulumi.ResourceOptions.merge(self._opts, pulumi.ResourceOptions(retain_on_delete=True))
        return [
            kubernetes.core.v1.Namespace(f"{self._name}-{place}-namespace", metadata={"name": place}, opts=kept)
            for place in self._args.stack.namespaces
            if place != pods.NAMESPACE
        ]

    def _system(self) -> list[pulumi.Resource]:
        """Our own namespace, and what it takes to pull images there."""
        namespace = self._namespace("system", metadata.SYSTEM_NAMESPACE, "system")
        return [namespace, *self._credentials(metadata.SYSTEM_NAMESPACE, after=[namespace])]

    def _on_machines(
        self, kind: Any, part: str, wanted: Any, ground: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        """A DaemonSet of ours, after its machines: its wait covers the nodes that are there."""
        if wanted is None:
            return []
        return [kind(f"{self._name}-{part}", args=wanted, opts=self._after(*ground, *self._machines(wanted.pools)))]

    def _turns(self) -> DriverTurns:
        waits = self._args.stack.settings.readiness
        return DriverTurns(
            self._name,
            kubeconfig=self._args.kubeconfig,
            poll_seconds=waits.poll_seconds,
            stable_seconds=waits.stable_seconds,
            timeout_seconds=waits.timeout_seconds,
        )

    def _network_operator(self) -> list[pulumi.Resource]:
        """The Network Operator; none if others keep one."""
        wanted = self._args.stack.network_operator(self._args.kubeconfig)
        name = f"{self._name}-network-operator"
        return [] if wanted is None else [NetworkOperator(name, args=wanted, opts=self._opts)]

    def _cluster_policy(self, turns: DriverTurns, after: Sequence[pulumi.Input[pulumi.Resource]]) -> NicClusterPolicy:
        """Changes of the GPU Operator go first. Only an update waits for the upgrades of its drivers."""
        return NicClusterPolicy(
            f"{self._name}-nic-cluster-policy",
            args=replace(self._args.stack.cluster_policy(self._args.kubeconfig), turns=turns),
            opts=self._after(*after),
        )

    def _node_policies(self, policy: NicClusterPolicy, turns: DriverTurns) -> dict[str, list[NicNodePolicy]]:
        """By pool. After the cluster's policy: a section that moves from one to the other must never be in both."""
        return {
            pool: [
                NicNodePolicy(
                    f"{self._name}-nic-node-policy-{pool}", args=replace(args, turns=turns), opts=self._after(policy)
                )
            ]
            for pool, args in self._args.stack.node_policies(self._args.kubeconfig).items()
        }

    def _networks(self, policy: NicClusterPolicy, ground: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        wanted = self._args.stack.ipoib_networks(self._args.kubeconfig)
        opts = self._after(policy, *ground)
        return [IpoibNetwork(f"{self._name}-{network}", args=args, opts=opts) for network, args in wanted.items()]

    def _validation_access(self, *ground: Sequence[pulumi.Resource]) -> ValidationAccess | None:
        """The part that the validations of all pools share."""
        if self._args.stack.settings.validation.mode == "off":
            return None
        after = self._after(*(resource for part in ground for resource in part))
        return ValidationAccess(f"{self._name}-validation", args=self._args.stack.validation_access(), opts=after)

    def _validation(
        self,
        pool: Pool,
        access: ValidationAccess | None,
        turns: DriverTurns,
        ready: Sequence[pulumi.Input[pulumi.Resource]],
    ) -> Validation:
        wanted = self._args.stack.validation_of(pool, self._args.kubeconfig, access=access)
        opts = self._after(*ready, *self._machines([pool]))
        return Validation(f"{self._name}-{pool.name}", args=replace(wanted, turns=turns), opts=opts)

    def _observability(self, system: Sequence[pulumi.Resource]) -> None:
        """Metrics, if they are enabled. No validation waits for them."""
        stack = self._args.stack
        metrics = stack.observability(self._args.kubeconfig)
        if metrics is not None:
            after = self._after(*system, *self._machines(stack.pools))
            Observability(f"{self._name}-observability", args=metrics, opts=after)

    def _once_validated(self, validations: Mapping[str, Validation]) -> None:
        """The check on a schedule, and the objects for schedulers: a pool that was not validated gets no queued job."""
        check = self._args.stack.light_check()
        if check is not None:
            LightCheck(f"{self._name}-light-check", args=check, opts=self._after(*validations.values()))
        for pool, told in self._args.stack.pool_topologies().items():
            PoolTopology(f"{self._name}-{pool}", args=told, opts=self._after(validations[pool]))
