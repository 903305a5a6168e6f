"""What makes a cluster's machines talk RDMA, whoever made the cluster: operators, policies, networks, validation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_preparation import NodePreparation
from aks_infiniband.hosts.peermem import PeermemLoader
from aks_infiniband.operators.gpu_operator import GpuOperator
from aks_infiniband.operators.ipoib import IpoibNetwork
from aks_infiniband.operators.network_operator import NetworkOperator
from aks_infiniband.operators.nic_policy import NicClusterPolicy, NicNodePolicy
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import child_options
from aks_infiniband.resources.registry import RegistryCredentials, RegistryCredentialsArgs
from aks_infiniband.stack.operators import Operators
from aks_infiniband.stack.revalidation import revalidate_when, validation_options, waits
from aks_infiniband.validation import Validation, ValidationArgs
from aks_infiniband.workload import pods
from aks_infiniband.workload.sample_job import sample_job
from aks_infiniband.workload.settings import WorkloadSettings, WorkloadSettingsArgs

PoolsReady = Mapping[str, pulumi.Input[pulumi.Resource]]


@dataclass(frozen=True, kw_only=True)
class RdmaSoftwareArgs:
    """What an RdmaSoftware takes."""

    operators: Operators
    """What the settings make of everything inside the cluster (`operators.configure`)."""
    kubeconfig: pulumi.Input[str]
    """With it a failed wait is explained."""
    pools_ready: PoolsReady = field(default_factory=dict)
    """By pool, what says that its machines are there; none for machines that are there already."""
    topologies: Mapping[str, str] = field(default_factory=dict)
    """By pool, the content of an NCCL topology file that takes the place of the generated one."""


class RdmaSoftware(pulumi.ComponentResource):
    """Everything inside the cluster, in an order in which nothing waits for what it does not need."""

    pools: dict[str, dict[str, Any]]
    """By pool: vmSize, nodeCount, mode, rdmaResource, podTemplate and validation."""
    sample_jobs: dict[str, pulumi.Output[dict[str, Any]]]
    """By pool, a List that kubectl applies as it is."""

    def __init__(self, name: str, *, args: RdmaSoftwareArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:RdmaSoftware", name, None, opts)
        self._name, self._args, self._opts = name, args, child_options(self, opts)
        ground = self._ground()
        prepared = self._node_preparation(ground)
        infiniband = self._infiniband(ground, prepared)
        gpus = self._gpus(ground, prepared)
        workload_settings = self._workload_settings(ground)
        ready = [*ground, *prepared, *infiniband, *gpus, workload_settings]
        validations = {pool.name: self._validation(pool, ready) for pool in args.operators.pools}
        self.pools = {pool.name: self._pool_outputs(pool, validations[pool.name]) for pool in args.operators.pools}
        self.sample_jobs = {pool.name: self._sample_job(pool, workload_settings) for pool in args.operators.pools}
        self.register_outputs({"pools": self.pools})

    def _after(self, *others: pulumi.Input[pulumi.Resource]) -> pulumi.ResourceOptions:
        return pulumi.ResourceOptions.merge(self._opts, pulumi.ResourceOptions(depends_on=list(others)))

    def _machines(self, pools: Sequence[Pool]) -> list[pulumi.Input[pulumi.Resource]]:
        """What says that the machines of these pools are there."""
        ready = self._args.pools_ready
        return [ready[pool.name] for pool in pools if pool.name in ready]

    def _ground(self) -> list[pulumi.Resource]:
        """Our namespace, and wherever workloads run what it takes to pull images from the registry."""
        namespace = kubernetes.core.v1.Namespace(
            f"{self._name}-workload",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=pods.NAMESPACE,
                # The validation's pods add IPC_LOCK, which the level baseline refuses; node preparation is privileged.
                labels={**metadata.labels("aks-infiniband", "workload"), **metadata.PRIVILEGED},
            ),
            opts=self._opts,
        )
        credentials = self._args.operators.registry_credentials
        if credentials is None:
            return [namespace]
        return [namespace] + [
            RegistryCredentials(
                f"{self._name}-{place}",
                args=RegistryCredentialsArgs(namespace=place, docker_config=credentials),
                opts=self._after(namespace),
            )
            for place in self._workload_namespaces()
        ]

    def _workload_namespaces(self) -> tuple[str, ...]:
        return (pods.NAMESPACE, *self._args.operators.settings.workload.namespaces)

    def _node_preparation(self, ground: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        """It restarts the kubelet, so it comes before every device plugin and every pod that holds a device."""
        wanted = self._args.operators.node_preparation(pods.NAMESPACE, self._args.kubeconfig)
        if wanted is None:
            return []
        machines = self._machines(wanted.pools)
        return [NodePreparation(f"{self._name}-node-preparation", args=wanted, opts=self._after(*ground, *machines))]

    def _infiniband(
        self, ground: Sequence[pulumi.Resource], prepared: Sequence[pulumi.Resource]
    ) -> list[pulumi.Resource]:
        name, operators, kubeconfig = self._name, self._args.operators, self._args.kubeconfig
        operator = NetworkOperator(f"{name}-network-operator", args=operators.network(kubeconfig), opts=self._opts)
        policy = NicClusterPolicy(
            f"{name}-nic-cluster-policy", args=operators.policy(kubeconfig), opts=self._after(operator, *prepared)
        )
        # After the cluster's policy: a section that moves from one to the other must never be in both.
        node_policies = [
            NicNodePolicy(f"{name}-nic-node-policy-{pool}", args=args, opts=self._after(policy))
            for pool, args in operators.node_policies(kubeconfig).items()
        ]
        networks = [
            IpoibNetwork(f"{name}-{network}", args=args, opts=self._after(policy, *ground))
            for network, args in operators.ipoib_networks(kubeconfig).items()
        ]
        return [policy, *node_policies, *networks]

    def _gpus(self, ground: Sequence[pulumi.Resource], prepared: Sequence[pulumi.Resource]) -> list[pulumi.Resource]:
        operators, kubeconfig = self._args.operators, self._args.kubeconfig
        ready: list[pulumi.Resource] = []
        if operators.gpu_pools:
            ready.append(
                GpuOperator(f"{self._name}-gpu-operator", args=operators.gpu(kubeconfig), opts=self._after(*prepared))
            )
        loader = operators.peermem(pods.NAMESPACE, kubeconfig)
        if loader is not None:
            # The wait for a DaemonSet covers the nodes that are there: before the machines it would say nothing.
            machines = self._machines(loader.pools)
            ready.append(PeermemLoader(f"{self._name}-peermem", args=loader, opts=self._after(*ground, *machines)))
        return ready

    def _workload_settings(self, ground: Sequence[pulumi.Resource]) -> WorkloadSettings:
        args = WorkloadSettingsArgs(
            pools=self._args.operators.pools, namespaces=self._workload_namespaces(), topologies=self._args.topologies
        )
        return WorkloadSettings(f"{self._name}-workload", args=args, opts=self._after(*ground))

    def _validation(self, pool: Pool, ready: Sequence[pulumi.Resource]) -> Validation:
        args = self._args
        return Validation(
            f"{self._name}-{pool.name}",
            args=ValidationArgs(
                pool=pool,
                options=validation_options(args.operators.settings.validation),
                waits=waits(args.operators.settings.readiness),
                registry=args.operators.registry,
                topology=args.topologies.get(pool.name),
                node_preparation=args.operators.settings.network_operator.node_preparation,
                kubeconfig=args.kubeconfig,
                revalidate_when=revalidate_when(args.operators, pool),
            ),
            opts=self._after(*ready, *self._machines([pool])),
        )

    def _pool_outputs(self, pool: Pool, validation: Validation) -> dict[str, Any]:
        return {
            "vmSize": pool.size.name,
            "nodeCount": pool.node_count,
            "mode": pool.mode,
            "rdmaResource": pool.rdma_resource,
            "podTemplate": pods.pod_template_fragment(
                pool,
                topology=self._args.topologies.get(pool.name),
                pull_secret=self._args.operators.registry.pull_secret,
            ),
            "validation": validation.report,
        }

    def _sample_job(self, pool: Pool, settings: WorkloadSettings) -> pulumi.Output[dict[str, Any]]:
        """Known once what it refers to is there."""
        job = sample_job(pool, registry=self._args.operators.registry, topology=self._args.topologies.get(pool.name))
        return settings.config_maps[pool.name].apply(lambda _: job)
