"""The images that a stack's nodes pull, and whether a registry has them for these nodes."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.facts.kubernetes import UBUNTU_IS_2404_SINCE, minor_of
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.versions import DRA_DRIVER, DRA_DRIVER_CHART, DRANET, NODE_EXPORTER, NODE_TOOLS
from aks_infiniband.operators.device_config import device_config_images
from aks_infiniband.operators.gpu_operator import is_gpu_pool
from aks_infiniband.stack.azure_cluster import AzureClusterArgs
from aks_infiniband.stack.stack import Stack
from aks_infiniband.validation.validation_job import pod_images

from aks_infiniband_cli.preflight.chart_images import gpu_driver, of_charts
from aks_infiniband_cli.preflight.checks import Line
from aks_infiniband_cli.preflight.registry import RegistryError, host_of

_PARTS: Final = frozenset({"repository", "image", "version"})
"""Keys of an image in NVIDIA's custom resources."""
_ELSEWHERE: Final = (
    "name another image, or copy this one to your own registry and name that: aks-infiniband:registry.images"
)
_FROM_THERE: Final = "let the nodes reach its registry, and look for it from there"


@dataclass(frozen=True, kw_only=True)
class NodeImage:
    """An image that nodes pull.

    reference: None if its tag depends on a system that is not known here. platform: the nodes', as linux/amd64; None if
    any will do.
    """

    name: str
    reference: str | None
    platform: str | None


def images_of(stack: Stack) -> list[NodeImage]:
    """The images that the nodes pull, as far as they are known here."""
    return [*_of_policies(stack), *_gpu_driver(stack), *_of_charts(stack), *_of_amd(stack), *_of_ours(stack)]


def _of_policies(stack: Stack) -> Iterator[NodeImage]:
    if stack.operators.network is None:
        return
    systems = _systems(stack)
    by_name = {pool.name: pool for pool in stack.pools}
    given: list[tuple[Mapping[str, Any], Sequence[Pool]]] = [(stack.policies.cluster, stack.pools)]
    given += [(spec, [by_name[name]]) for name, spec in stack.policies.nodes.items()]
    for spec, pools in given:
        for section, image in _named(spec):
            reference = f"{image['repository']}/{image['image']}:{image['version']}"
            for pool in pools:
                tagged = _ofed(reference, pool, systems.get(pool.name)) if section == "ofedDriver" else reference
                yield NodeImage(name=str(image["image"]), reference=tagged, platform=_platform(pool))


def _ofed(reference: str, pool: Pool, ubuntu: str | None) -> str | None:
    """The operator adds what the node runs (Mellanox/network-operator pkg/state/state_ofed.go, read 2026-11-22)."""
    return f"{reference}-ubuntu{ubuntu}-{pool.size.architecture}" if ubuntu else None


def _gpu_driver(stack: Stack) -> Iterator[NodeImage]:
    """The GPU driver; tags are as 580.105.08-ubuntu24.04 (nvcr.io/nvidia/driver)."""
    driver, systems = gpu_driver(stack), _systems(stack)
    for pool in stack.pools:
        if driver is not None and is_gpu_pool(pool) and pool.gpu_driver == "operator":
            ubuntu = systems.get(pool.name)
            reference = f"{driver}-ubuntu{ubuntu}" if ubuntu else None
            yield NodeImage(name=driver.rpartition(":")[0], reference=reference, platform=_platform(pool))


def _of_charts(stack: Stack) -> Iterator[NodeImage]:
    for reference, pools in of_charts(stack):
        for platform in {_platform(pool) for pool in pools} or (None,):
            yield NodeImage(name=reference, reference=reference, platform=platform)


def _of_amd(stack: Stack) -> Iterator[NodeImage]:
    """The images that DeviceConfigs name. The driver's image is built in the cluster, so no registry has to have it."""
    for config in stack.device_configs("").values():
        for image in device_config_images(config.pool, config.options):
            yield NodeImage(name=image, reference=image, platform=_platform(config.pool))


def _platform(pool: Pool) -> str:
    return f"linux/{pool.size.architecture}"


def _systems(stack: Stack) -> Mapping[str, str]:
    """The version of Ubuntu by pool; nothing for nodes that others make."""
    if not isinstance(stack.cluster, AzureClusterArgs):
        return {}
    cluster, systems = stack.cluster.settings.kubernetes_version, {}
    for pool, machines in stack.cluster.pools:
        newer = minor_of(machines.kubernetes_version or cluster) >= UBUNTU_IS_2404_SINCE
        known = {"Ubuntu": "24.04" if newer else "22.04", "Ubuntu2204": "22.04"}
        if machines.os_sku in known:
            systems[pool.name] = known[machines.os_sku]
    return systems


def _named(spec: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The images in a policy, each with the key of its section."""
    for section, value in spec.items():
        if isinstance(value, Mapping):
            if value.keys() >= _PARTS:
                yield section, value
            else:
                yield from _named(value)


def _of_ours(stack: Stack) -> Iterator[NodeImage]:
    """The images of validation, node preparation, dranet, DRA driver and exporter, and those that are pulled
    beforehand.
    """
    ours = (stack.node_preparation(""), stack.peermem(""), stack.toolkit_hardening(""))
    daemons = [daemon for daemon in ours if daemon is not None]
    wanted: list[tuple[str, Iterable[Pool]]] = [(NODE_TOOLS.reference, daemon.pools) for daemon in daemons]
    if (dranet := stack.dranet("")) is not None:
        wanted.append((DRANET.reference, dranet.pools))
    if stack.operators.dra is not None and stack.operators.dra.chart.version == DRA_DRIVER_CHART.version:
        wanted.append((DRA_DRIVER.reference, [pool for pool in stack.pools if pool.has_compute_domain]))
    if stack.settings.validation.mode != "off":
        wanted += [(image, [pool]) for pool in stack.pools for image in pod_images(pool, stack.settings.validation)]
    for pull in stack.image_pulls():
        wanted += [(image, pull.pools) for image in (*pull.images, NODE_TOOLS.reference)]
    if stack.settings.observability is not None:
        wanted.append((NODE_EXPORTER.reference, stack.pools))
    for image, pools in wanted:
        reference = stack.registry.image(image)
        for pool in pools:
            yield NodeImage(name=reference, reference=reference, platform=_platform(pool))


def images(wanted: Iterable[NodeImage], platforms: Callable[[str], frozenset[str]]) -> Iterator[Line]:
    """A line for each image.

    platforms: for which there is an image, such as linux/amd64, by reference; raises RegistryError.
    """
    needed: dict[tuple[str, str | None], set[str]] = {}
    for image in wanted:
        of_nodes = needed.setdefault((image.name, image.reference), set())
        of_nodes |= {image.platform} if image.platform else set()
    for (name, reference), of_nodes in needed.items():
        if reference is None:
            found = "its tag names the nodes' Ubuntu, which is not known here"
            yield Line(check=f"image {name}", state="not checked", found=found, remedy=_FROM_THERE)
        else:
            yield _line(reference, of_nodes, platforms)


def _line(reference: str, of_nodes: set[str], platforms: Callable[[str], frozenset[str]]) -> Line:
    check, host = f"image {reference}", host_of(reference)
    try:
        there = platforms(reference)
    except RegistryError as error:
        if error.absent:
            return Line(check=check, state="fail", found=str(error), remedy=_ELSEWHERE)
        remedy = f"{_FROM_THERE}, as `docker manifest inspect` does"
        return Line(check=check, state="not checked", found=str(error), remedy=remedy)
    if of_nodes <= there:
        nodes = f" for {', '.join(sorted(of_nodes))}" if of_nodes else ""
        return Line(check=check, state="pass", found=f"{host} has it{nodes}")
    known = ", ".join(sorted(there)) or "no platform"
    found = f"{host} has it for {known}, not for {', '.join(sorted(of_nodes - there))} of the nodes"
    return Line(check=check, state="fail", found=found, remedy=_ELSEWHERE)
