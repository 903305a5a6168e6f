"""Images pulled on machines while their drivers are installed, so that no job waits for them later."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_daemon import daemon_set_spec, idle_container
from aks_infiniband.resources import metadata
from aks_infiniband.resources.registry import SOURCES, Registry


@dataclass(frozen=True, kw_only=True)
class ImagePull:
    """A DaemonSet whose pods start a program in each image once, which makes a node pull it, and then idle.

    Nothing waits for it, and it does not have rights on a machine. An image that cannot be pulled delays those after
    it.
    """

    pools: Sequence[Pool]
    """The pools on whose nodes the images are to be, on those that join later too."""
    images: Sequence[str]
    """The images to pull, one after the other. Each has `true` on its path, as every image with a shell does."""
    registry: Registry = SOURCES
    """The source of the images."""

    @property
    def name(self) -> str:
        """Name of the DaemonSet. The name changes with the images."""
        return f"image-pull-{hashlib.sha256(' '.join(self.images).encode()).hexdigest()[:8]}"

    def spec(self) -> dict[str, Any]:
        """The spec of the DaemonSet."""
        idle = idle_container(self.registry)
        pulled = [
            {
                **idle,
                "name": f"image-{number}",
                "image": self.registry.image(image),
                "command": ["true"],
                "workingDir": "/",  # an image's own may be closed to other users
                # NVIDIA's images request all GPUs, and get them if NVIDIA's runtime is the default one (NVIDIA/aicr
                # issue 1839). With void it does as runc does (README of NVIDIA's nvidia-container-runtime).
                "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
            }
            for number, image in enumerate(self.images)
        ]
        pod = {"initContainers": pulled, "containers": [idle], "terminationGracePeriodSeconds": 0}
        labels = metadata.labels(self.name, "images")
        return daemon_set_spec(self.pools, labels, pod, registry=self.registry, max_unavailable="100%")

    def create(self, resource: str, *, namespace: str, opts: pulumi.ResourceOptions) -> None:
        """Create the DaemonSet, and do not wait for it.

        resource: the beginning of its name in the program.
        """
        described: Any = {
            "name": self.name,
            "namespace": namespace,
            "labels": metadata.labels(self.name, "images"),
            "annotations": {"pulumi.com/skipAwait": "true"},
        }
        wanted: Any = self.spec()
        kubernetes.apps.v1.DaemonSet(f"{resource}-{self.name}", metadata=described, spec=wanted, opts=opts)
