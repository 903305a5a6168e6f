"""An operator in its namespace: what both of NVIDIA's operators take, and how their charts are installed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators import charts
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import WaitArgs, child_options
from aks_infiniband.resources.registry import RegistryCredentials, RegistryCredentialsArgs


@dataclass(frozen=True, kw_only=True)
class OperatorArgs(WaitArgs):
    """What both operators take. The timeout is that of the release."""

    pools: Sequence[Pool]
    """The cluster's pools with InfiniBand."""
    chart: charts.ChartSource
    """The operator's chart."""
    values: Mapping[str, Any] | None = None
    """All Helm values of the release, as the room's function makes them of pools and further values. Default: those of
    the pools alone."""
    registry_credentials: pulumi.Input[str] | None = None
    """Docker configuration (JSON) that the operator's namespace gets as the Secret registry.PULL_SECRET."""


def install_operator(
    name: str,
    operator: str,
    args: OperatorArgs,
    *,
    values: Mapping[str, Any],
    parent: pulumi.Resource,
    opts: pulumi.ResourceOptions | None,
) -> kubernetes.helm.v3.Release:
    """An operator's namespace, which admits its driver containers, and in it its Helm release.

    The release is ready when it is there, and leaves nothing behind when its installation fails.

    name: of both resources in the program.
    operator: name of both in the cluster. It is fixed: under another name Helm would install a second
        operator.
    values: all of them.
    parent, opts: the operator's component, and the options that it was given.
    """
    namespace = kubernetes.core.v1.Namespace(
        name,
        metadata=kubernetes.meta.v1.ObjectMetaArgs(
            name=operator, labels={**metadata.labels(operator, "operator"), **metadata.PRIVILEGED}
        ),
        opts=child_options(parent, opts),
    )
    after: list[pulumi.Resource] = []
    if args.registry_credentials is not None:
        given = RegistryCredentialsArgs(namespace=namespace.metadata.name, docker_config=args.registry_credentials)
        after = [RegistryCredentials(f"{name}-registry", args=given, opts=child_options(parent, opts))]
    chart = args.chart
    waiting = diagnosis.Waiting(component=parent, opts=opts, args=args, pools=args.pools)
    return kubernetes.helm.v3.Release(
        name,
        name=operator,
        chart=chart.name,
        version=chart.version,
        repository_opts=kubernetes.helm.v3.RepositoryOptsArgs(repo=chart.repository) if chart.repository else None,
        namespace=namespace.metadata.name,
        values=values,
        atomic=True,
        cleanup_on_fail=True,
        skip_await=False,
        timeout=round(args.timeout_seconds),
        opts=waiting.child_options(name, "release", depends_on=after),
    )
