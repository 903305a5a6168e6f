"""The common parts of the operators: arguments, driver upgrades, the nodes they run on, the Helm release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

import pulumi
import pulumi_kubernetes as kubernetes
from pydantic import Field

from aks_infiniband import diagnosis
from aks_infiniband.facts.bounds import DrainSeconds
from aks_infiniband.facts.pool import Pool, node_term
from aks_infiniband.facts.releases import DEFAULT_RELEASE, Release
from aks_infiniband.handwritten.section import Section
from aks_infiniband.operators import charts
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import WaitArgs, child_options
from aks_infiniband.resources.registry import SOURCES, Registry, RegistryCredentials, RegistryCredentialsArgs

SYSTEM_POOL: Final[Mapping[str, str]] = {"kubernetes.azure.com/mode": "system"}
"""AKS's label on the nodes of system pools."""


class DriverUpgrade(Section):
    """The way in which a changed driver reaches the nodes: one at a time, each drained first, because a driver that
    reloads cuts its node's pods off the GPUs and the fabric.
    """

    automatic: bool = Field(default=True, strict=True)
    """True: a changed driver version rolls out by itself. Off, a node gets it when its driver pod is deleted."""
    drain_timeout_seconds: DrainSeconds = Field(default=300, strict=True)
    """Time for pods to leave a node; 0 waits for as long as they need."""

    def policy(self) -> dict[str, Any]:
        """The upgrade policy as ofedDriver and the GPU Operator's chart take it.

        force: pods without a controller are evicted too, although nothing starts them again; as in the AKS InfiniBand
        guide (Azure/aks-rdma-infiniband, configs/nicclusterpolicy/base).
        """
        return {
            "autoUpgrade": self.automatic,
            "maxParallelUpgrades": 1,
            "drain": {
                "enable": True,
                "force": True,
                "deleteEmptyDir": True,
                "timeoutSeconds": self.drain_timeout_seconds,
            },
        }


ONE_BY_ONE: Final = DriverUpgrade()
"""A changed version rolls out by itself, and a node's pods have five minutes to leave."""


@dataclass(frozen=True, kw_only=True, slots=True)
class OperatorOptions:
    """Options of an operator that are alike for all pools."""

    release: Release = DEFAULT_RELEASE
    """The release whose chart is installed, and whose images the policies name."""
    driver_version: str | None = None
    """Version of the driver's image. Default: the one that the operator's release brings."""
    upgrade: DriverUpgrade = ONE_BY_ONE
    """The way in which a changed version reaches the nodes."""
    registry: Registry = SOURCES
    """The source of images. Default: the places at which their makers publish them."""


DEFAULTS: Final = OperatorOptions()


@dataclass(frozen=True, kw_only=True)
class OperatorArgs(WaitArgs):
    """The arguments of all operators. The timeout is that of the release."""

    pools: Sequence[Pool]
    """The cluster's pools with InfiniBand."""
    chart: charts.ChartSource
    """The operator's chart."""
    values: Mapping[str, Any] | None = None
    """All Helm values of the release, as the room's function makes them of pools and further values. Default: those of
    the pools alone."""
    registry_credentials: pulumi.Input[str] | None = None
    """A Docker configuration (JSON), which the operator's namespace gets as the Secret aks-infiniband-registry."""


def install_operator(
    name: str,
    operator: str,
    args: OperatorArgs,
    *,
    values: Mapping[str, Any],
    parent: pulumi.Resource,
    opts: pulumi.ResourceOptions | None,
    hooks: pulumi.ResourceHookBinding | None = None,
    release: str | None = None,
) -> kubernetes.helm.v3.Release:
    """An operator's namespace, which admits its driver containers, and in it its Helm release.

    The release is ready when it is there, and leaves nothing behind when its installation fails.

    name: of both resources in the program. operator: name of both in the cluster. The name is fixed: under another name
    Helm would install a second operator. values: all of them. parent, opts: the operator's component, and the options
    that it was given. hooks: of the release's updates. release: its name, if that is not the namespace's.
    """
    waiting = diagnosis.Waiting(component=parent, opts=opts, args=args, pools=args.pools)
    namespace = kubernetes.core.v1.Namespace(
        name,
        metadata=kubernetes.meta.v1.ObjectMetaArgs(
            name=operator, labels={**metadata.labels(operator, "operator"), **metadata.PRIVILEGED}
        ),
        opts=waiting.child_options(f"{name}-namespace", "namespace"),
    )
    after: list[pulumi.Resource] = [namespace]
    if args.registry_credentials is not None:
        credentials = RegistryCredentialsArgs(namespace=operator, docker_config=args.registry_credentials)
        options = child_options(parent, opts, depends_on=[namespace])
        after.append(RegistryCredentials(f"{name}-registry", args=credentials, opts=options))
    chart = args.chart
    return kubernetes.helm.v3.Release(
        name,
        name=release or operator,
        chart=chart.name,
        version=chart.version,
        repository_opts=kubernetes.helm.v3.RepositoryOptsArgs(repo=chart.repository) if chart.repository else None,
        namespace=operator,
        values=values,
        atomic=True,
        cleanup_on_fail=True,
        skip_await=False,
        timeout=round(args.timeout_seconds),
        opts=waiting.child_options(name, "release", depends_on=after, hooks=hooks),
    )


def system_node_affinity(selector: Mapping[str, str], pools: Sequence[Pool]) -> dict[str, Any]:
    """The affinity of core/v1 for an operator's own pod.

    selector: labels of the nodes that carry the operators; empty means any node that is not of one of the pools.
    """
    terms = [node_term(selector)] if selector else _of_no_pool(pools)
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def _of_no_pool(pools: Sequence[Pool]) -> list[dict[str, Any]]:
    """Terms that select the nodes of no pool.

    A node belongs to a pool when it carries all of the pool's labels, so it does not when it lacks one of them. Each
    term names one lacking label for every pool. A term that requires more than another is left out: if many pools share
    labels there would be thousands. NotIn holds for nodes without the label too.
    """
    ways: list[frozenset[tuple[str, str]]] = [frozenset()]
    for pool in pools:
        longer = dict.fromkeys(way | {label} for way in ways for label in pool.node_selector.items())
        ways = [way for way in longer if not any(other < way for other in longer)]
    return [{"matchExpressions": _lacking(sorted(way))} for way in ways]


def _lacking(labels: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """labels: sorted."""
    by_key = groupby(labels, key=lambda label: label[0])
    return [{"key": key, "operator": "NotIn", "values": [value for _, value in of_key]} for key, of_key in by_key]
