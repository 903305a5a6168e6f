"""A kubelet's knowledge and its requests to the API server: its machines' files, and the objects to which pods may
refer.
"""

import base64
import contextlib
import logging
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lightkube.core.exceptions import ApiError
from lightkube.models.authentication_v1 import BoundObjectReference, TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Secret, ServiceAccountToken

from rehearsal.machines.hardware import beneath
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.sysfs import MEMLOCK_BYTES, dev_files, sys_files, write_files
from rehearsal.machines.kubelet.container_start import MachineView
from rehearsal.machines.kubelet.containers import Confinement
from rehearsal.machines.kubelet.device_manager import DeviceManager
from rehearsal.machines.kubelet.environment import References
from rehearsal.machines.kubelet.images import Images
from rehearsal.machines.kubelet.programs import Programs
from rehearsal.machines.network.sandbox import Sandboxes
from rehearsal.machines.nodes.upkeep import Machines
from rehearsal.machines.pods.running import RunningPod
from rehearsal.run.folder import ENVIRONMENT_VARIABLE, RunFolder
from rehearsal.run.latency import Latencies
from rehearsal.watch.cluster import Cluster
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)

_TOKEN_SECONDS = 3607  # what the API server puts into a pod's volume when nothing is said


@dataclass(kw_only=True)
class Kubelet:
    """The shared parts of all executed pods."""

    cluster: Cluster
    machines: Machines
    sandboxes: Sandboxes
    images: Images
    latencies: Latencies
    programs: Programs
    run_folder: RunFolder
    devices: DeviceManager = field(default_factory=DeviceManager)
    _files: dict[str, dict[str, str]] = field(default_factory=dict)
    """Machine -> what its own file system holds, as written last."""

    @classmethod
    def of(cls, machines: Machines, sandboxes: Sandboxes, images: Images, folder: RunFolder) -> "Kubelet":
        """A kubelet for all machines of a run folder."""
        programs = Programs.prepared(folder.machines / "bin")
        return cls(
            cluster=machines.cluster,
            machines=machines,
            sandboxes=sandboxes,
            images=images,
            latencies=images.latencies,
            programs=programs,
            run_folder=folder,
        )

    def machine_view(self, machine: Machine, pod: RunningPod) -> MachineView:
        """Bring the machine's /sys and /dev up to date, and return it as a container of the pod finds it."""
        root, hardware = self.run_folder.machines / machine.name, machine.hardware
        modules = self.machines.effects.modules(machine)
        gpus = [gpu.index for gpu in hardware.gpus]
        held = dev_files(rdma=hardware.rdma_devices, gpus=gpus, vendor=hardware.gpu_vendor, modules=modules)
        devices = dict.fromkeys(held, "")
        files = {f"sys/{path}": text for path, text in sys_files(hardware, modules).items()}
        files |= {f"dev/{path}": text for path, text in devices.items()} | dict(machine.metadata)
        before = self._files.get(machine.name, {})
        for path in before.keys() - files.keys():
            beneath.remove_file(root, path)
        write_files(root, {path: text for path, text in files.items() if before.get(path) != text})
        self._files[machine.name] = files
        return MachineView(
            machine=machine,
            root=root,
            modules=modules,
            memlock=None if self.machines.effects.lifts_memlock(machine.name) else MEMLOCK_BYTES,
            networks=tuple(self.sandboxes.of(pod.uid)),
            toolkit=self.machines.effects.toolkit(machine),
            host_engines=self._addresses(self.machines.effects.pods(machine.name, "gpuHostEngine")),
        )

    def _addresses(self, uids: Collection[str]) -> tuple[str, ...]:
        """Addresses of pods."""
        pods = self.cluster.of("Pod").values() if uids else ()
        return tuple(pod["status"]["podIP"] for pod in pods if pod["metadata"]["uid"] in uids)

    def confinement(self, machine: Machine, *, reads: Path, writes: Iterable[Path]) -> Confinement:
        """The parts that a container on a machine may reach. reads, writes: those of its pod."""
        ours = self.run_folder.machines
        shared = [ours / name for name in ("wire", "faults")]  # for simulated tools that meet, and count faults
        for folder in (*shared, self.run_folder.faults):
            folder.mkdir(exist_ok=True)
        port = int(self.server()["KUBERNETES_SERVICE_PORT"])
        of_all = (self.run_folder.faults, *(ours / name for name in ("bin", "shell", "names")))
        return Confinement(reads=(reads, *of_all), writes=(*writes, ours / machine.name, *shared), port=port)

    def variables(self) -> dict[str, str]:
        """By which simulated programs find their rehearsal."""
        folder = self.run_folder
        return {ENVIRONMENT_VARIABLE: str(folder.root), "REHEARSAL_NAMES": str(folder.machines / "names")}

    def server(self) -> dict[str, str]:
        """The address of the API server for pods, as variables."""
        address = urlsplit(self.cluster.client.config.cluster.server or "")
        return {
            "KUBERNETES_SERVICE_HOST": address.hostname or "",
            "KUBERNETES_SERVICE_PORT": str(address.port or 443),
            "KUBERNETES_SERVICE_PORT_HTTPS": str(address.port or 443),
        }

    async def references(self, pod: RunningPod) -> References:
        """The objects to which the pod's spec may refer, in their current state."""
        secrets = {name: await self._secret(pod.namespace, name) for name in _secret_names(pod.spec)}
        status: Mapping[str, Any] = (pod.node or {}).get("status") or {}
        return References(
            config_map=lambda name: self._config_map(pod.namespace, name),
            secret=secrets.get,
            pod=pod.document,
            allocatable=status.get("allocatable") or {},
            pod_ip=pod.ip or "",
            host_ip=pod.host_ip or "",
            kernel=(status.get("nodeInfo") or {}).get("kernelVersion", ""),
        )

    async def token(self, pod: RunningPod, claim: Mapping[str, Any]) -> str:
        """A service account token bound to the pod."""
        account = pod.spec.get("serviceAccountName") or "default"
        asked = ServiceAccountToken(
            metadata=ObjectMeta(namespace=pod.namespace),
            spec=TokenRequestSpec(
                audiences=[claim["audience"]] if claim.get("audience") else [],
                expirationSeconds=claim.get("expirationSeconds") or _TOKEN_SECONDS,
                boundObjectRef=BoundObjectReference(apiVersion="v1", kind="Pod", name=pod.name, uid=pod.uid),
            ),
        )
        granted = await insist(
            lambda: self.cluster.client.create(asked, account, namespace=pod.namespace),
            what=f"token of service account {pod.namespace}/{account}",
        )
        return str(granted.status.token) if granted is not None and granted.status is not None else ""

    def _config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        config_map = self.cluster.of("ConfigMap").get((namespace, name))
        return None if config_map is None else config_map.get("data") or {}

    async def _secret(self, namespace: str, name: str) -> Mapping[str, str] | None:
        with contextlib.suppress(ApiError):
            secret = await self.cluster.client.get(Secret, name, namespace=namespace)
            return {key: base64.b64decode(value).decode(errors="replace") for key, value in (secret.data or {}).items()}
        return None


def _secret_names(spec: Mapping[str, Any]) -> set[str]:
    """The Secrets that a pod's volumes and environments refer to."""
    names: set[str | None] = set()
    for volume in spec.get("volumes") or []:
        names.add((volume.get("secret") or {}).get("secretName"))
        for source in (volume.get("projected") or {}).get("sources") or []:
            names.add((source.get("secret") or {}).get("name"))
    for container in [*spec["containers"], *(spec.get("initContainers") or [])]:
        for variable in container.get("env") or []:
            names.add(((variable.get("valueFrom") or {}).get("secretKeyRef") or {}).get("name"))
        for source in container.get("envFrom") or []:
            names.add((source.get("secretRef") or {}).get("name"))
    return {name for name in names if name}
