"""A pod's requests of the hardware, understood once: extended resources, claims, and the host's own devices.

A device plugin may call its resources as it likes, and a claim does not say of what it is. So two questions are kept
apart: whether a pod surely requests InfiniBand, and whether it may have it. Only a pod that cannot have it is named.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from aks_infiniband.diagnosis.view import Object
from aks_infiniband.resources.quantities import quantity

GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu")
_OF_GPUS: Final = re.compile(r"(nvidia|amd|gpu\.intel)\.com/(gpu|mig-)")
"""GPUs, shared ones and parts of one."""
_OF_CLAIMS: Final = "deviceclass.resource.kubernetes.io/"
"""The domain of an extended resource that a DeviceClass backs under its own name (KEP 5004, Kubernetes 1.34)."""
_NO_DEVICE: Final = re.compile(
    r"(?!deviceclass\.resource\.)([a-z0-9.-]+\.)?kubernetes\.io/|koordinator\.sh/|sgx\.intel\.com/|smarter-devices/"
)
"""Resources with a domain that are shares of memory and processors, or devices that no fabric has."""
_BY_NAME: Final = re.compile(r"rdma|infiniband|mlnx|mellanox|dranet|dra\.net|(^|[-_./])(ib|hcas?|nics?)([-_./0-9]|$)")
"""Parts of the name of a claim, its template or an extended resource that stands for HCAs."""
DEVICES: Final = "/dev/infiniband"
"""The folder of a node with the devices of its HCAs."""


class Asks(NamedTuple):
    """The requests of a pod, or of the template of one."""

    resources: Mapping[str, Decimal]
    """Extended resources: those with a domain in their name. The largest request at one time."""
    claims: Mapping[str, str]
    """ResourceClaims by their name in the pod, with that of the claim or of its template."""
    mounts_infiniband: bool
    """True if the host's InfiniBand devices are mounted."""
    host_devices: bool
    """True if it has every device of the host: a privileged container, or one with the whole of /dev."""

    @property
    def gpus(self) -> int:
        """Whole GPUs that it requests from a device plugin."""
        return int(sum(self.resources.get(name, 0) for name in GPUS))

    @property
    def hardware(self) -> bool:
        """True if it requests GPUs or other devices."""
        return bool(self.claims) or any(_OF_GPUS.match(name) or is_rdma(name) for name in self.resources)

    def rdma(self, offered: Collection[str] = ()) -> bool:
        """True if it surely requests InfiniBand.

        offered: the resources that the cluster's RDMA device plugins offer by their configuration, whatever their
        names.
        """
        claimed = any(self.claims_rdma(name) for name in self.claims)
        return claimed or self.mounts_infiniband or any(is_rdma(name) or name in offered for name in self.resources)

    def claims_rdma(self, name: str) -> bool:
        """True if the name of one of its claims is like one of HCAs."""
        return _BY_NAME.search(f"{name} {self.claims.get(name, '')}".lower()) is not None

    def may_have_rdma(self, offered: Collection[str] = ()) -> bool:
        """True if it may have InfiniBand: by a claim, by a resource that may be anything, or by the host's devices."""
        unknown = (name for name in self.resources if not _OF_GPUS.match(name) and not _NO_DEVICE.match(name))
        return bool(self.rdma(offered) or self.claims or self.host_devices or any(unknown))


def is_rdma(resource: str) -> bool:
    """True if the name of an extended resource is like one of HCAs."""
    return not _OF_GPUS.match(resource) and _BY_NAME.search(resource.lower()) is not None


def by_device_plugin(resource: str) -> bool:
    """True if an extended resource comes from a device plugin, so that nodes report how much of it they have."""
    return not resource.startswith(_OF_CLAIMS)


def asks_of(pod: Object) -> Asks:
    """A pod's requests; also of a template, as a Job has."""
    spec: Mapping[str, Any] = pod.get("spec") or {}
    resources = {name: amount for name, amount in _resources(spec).items() if amount}
    backed = ((pod.get("status") or {}).get("extendedResourceClaimStatus") or {}).get("resourceClaimName")
    claims = {str(claim.get("name")): _name_of(claim) for claim in spec.get("resourceClaims") or []}
    paths = [_host_path(volume) for volume in spec.get("volumes") or []]
    return Asks(
        resources=resources,
        claims=claims | ({"extended resources": str(backed)} if backed else {}),
        mounts_infiniband=any(path == DEVICES or path.startswith(f"{DEVICES}/") for path in paths),
        host_devices="/dev" in paths or any(map(_is_privileged, _containers(spec))),
    )


def _name_of(claim: Mapping[str, Any]) -> str:
    return str(claim.get("resourceClaimTemplateName") or claim.get("resourceClaimName") or "")


def _host_path(volume: Mapping[str, Any]) -> str:
    return str((volume.get("hostPath") or {}).get("path") or "").rstrip("/")


def _is_privileged(container: Mapping[str, Any]) -> bool:
    return bool((container.get("securityContext") or {}).get("privileged"))


def _containers(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from spec.get("initContainers") or []
    yield from spec.get("containers") or []


def _resources(spec: Mapping[str, Any]) -> dict[str, Decimal]:
    """As the scheduler counts: containers and restarting init containers together, any other init container alone."""
    together: dict[str, Decimal] = {}
    alone: dict[str, Decimal] = {}
    for container in spec.get("containers") or []:
        _add(together, requests_of(container))
    for container in spec.get("initContainers") or []:
        if container.get("restartPolicy") == "Always":
            _add(together, requests_of(container))
        else:
            asked = requests_of(container)
            alone = {name: max(alone.get(name, Decimal(0)), asked.get(name, Decimal(0))) for name in {**alone, **asked}}
    return {name: max(together.get(name, Decimal(0)), alone.get(name, Decimal(0))) for name in {**together, **alone}}


def _add(total: dict[str, Decimal], more: Mapping[str, Decimal]) -> None:
    for name, amount in more.items():
        total[name] = total.get(name, Decimal(0)) + amount


def requests_of(container: Mapping[str, Any]) -> dict[str, Decimal]:
    """The extended resources of one container, from limits if it does not have requests for them."""
    asked = container.get("resources") or {}
    amounts = {**(asked.get("limits") or {}), **(asked.get("requests") or {})}
    return {name: quantity(amount) for name, amount in amounts.items() if "/" in name}
