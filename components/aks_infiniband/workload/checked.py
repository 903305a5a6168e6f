"""A pod that fails at its start if its traffic would use sockets, made of a pool's podTemplate."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Final

_NETWORKS: Final = "k8s.v1.cni.cncf.io/networks"
CHECK: Final = "require_infiniband.sh"
"""The check before a program that talks RDMA."""
_REQUESTS: Final = {"cpu": "100m", "memory": "64Mi"}
"""Requests of the check: a shell and some reads."""
_QUEUE: Final = "kueue.x-k8s.io/queue-name"
"""Kueue's label of a job's queue (Kueue, "Run a Kubernetes Job", and the same for every other kind here)."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """The arguments of every way to run a job."""

    name: str
    """Name of the job, and of the Service by which its pods find each other."""
    namespace: str
    """One that has the pool's workload settings."""
    template: Mapping[str, Any]
    """The pool's podTemplate, of `aks-infiniband workload` or of `pod_template_fragment`."""
    machines: int
    """The number of machines: one pod on each."""
    image: str
    """Image of the pods. The check runs in it too, and needs sh, sed, ls, cat and tail."""
    requests: Mapping[str, str] = field(default_factory=dict)
    """CPU and memory that each pod requests."""
    queue: str | None = None
    """Kueue's LocalQueue of the namespace. Default: no queue."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number of machines below 1, and for a template without exactly one container."""
        if self.machines < 1:
            raise ValueError(f"machines is {self.machines}; must be 1 or more")
        if len(self.template.get("spec", {}).get("containers", ())) != 1:
            raise ValueError("template must have one container; take the pool's podTemplate (aks-infiniband workload)")

    @property
    def accelerators(self) -> int:
        """GPUs of one pod; 0 without."""
        (main,) = self.template["spec"]["containers"]
        limits = main["resources"]["limits"]
        return sum(int(quantity) for name, quantity in limits.items() if name.endswith("/gpu"))

    @property
    def interfaces(self) -> list[str]:
        """The pod's interfaces on IPoIB networks, as Multus names them; none in other modes than ipoib."""
        networks = self.template.get("metadata", {}).get("annotations", {}).get(_NETWORKS, "")
        return [f"net{number}" for number, _ in enumerate(filter(None, networks.split(",")), start=1)]

    def head(self, api_version: str, kind: str) -> dict[str, Any]:
        """API version, kind and metadata of the job, with its queue."""
        labels = {"labels": {_QUEUE: self.queue}} if self.queue else {}
        return {"apiVersion": api_version, "kind": kind, "metadata": self.named() | labels}

    def named(self) -> dict[str, Any]:
        """Name and namespace."""
        return {"name": self.name, "namespace": self.namespace}

    def pod(self, command: Sequence[str], *, container: str = "main", sockets: bool = False) -> dict[str, Any]:
        """The pod template with the check as its init container.

        container: the name that the job's controller looks for.
        sockets: whether the program speaks TCP over IPoIB, so that its interfaces are checked and not its libraries.
        """
        template = self.unchecked(command, container=container)
        (main,) = template["spec"]["containers"]
        template["spec"]["initContainers"] = [self._check(main, sockets=sockets)]
        return template

    def unchecked(self, command: Sequence[str], *, container: str) -> dict[str, Any]:
        """The same without a check, for a command that makes it."""
        template = deepcopy(dict(self.template))
        spec = template["spec"]
        (main,) = spec["containers"]
        main |= {"name": container, "image": self.image, "command": list(command)}
        main["resources"]["requests"] = {**main["resources"].get("requests", {}), **self.requests}
        spec["restartPolicy"] = "Never"
        return template

    def _check(self, main: Mapping[str, Any], *, sockets: bool) -> dict[str, Any]:
        """The check sees what the program sees: image, environment, devices and limits. GPUs are left to the
        program.
        """
        devices = {name: number for name, number in main["resources"]["limits"].items() if not name.endswith("/gpu")}
        script = "require_ipoib.sh" if sockets else CHECK
        return {
            **deepcopy({key: value for key, value in main.items() if key != "command"}),
            "name": script.removesuffix(".sh").replace("_", "-"),
            "command": ["sh", "-c", text(script), "sh", *(self.interfaces if sockets else [])],
            "resources": {**main["resources"], "requests": {**_REQUESTS, **devices}, "limits": dict(devices)},
        }


def text(script: str) -> str:
    """A shell script of this package."""
    return (resources.files("aks_infiniband.workload") / script).read_text()
