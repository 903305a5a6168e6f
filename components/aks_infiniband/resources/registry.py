"""The registry that replaces the internet as the source of images, and the Secret with which they are pulled."""

import base64
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import keep_rules
from aks_infiniband.facts.versions import Image, by_digest
from aks_infiniband.resources import metadata
from aks_infiniband.resources.namespaces import why_not_ours
from aks_infiniband.resources.options import child_options

PULL_SECRET: Final = "aks-infiniband-registry"  # noqa: S105  a name
"""Name of the Secret with the registry's credentials, in every namespace of ours."""
_DOCKER_HUB: Final = "docker.io"


@dataclass(frozen=True, kw_only=True, slots=True)
class Registry:
    """A registry that mirrors every image under the path it has at its source; by default the sources themselves."""

    images: Annotated[str, rules.image_registry] | None = None
    """Registry, with a path or without; nvcr.io/nvidia/x becomes IMAGES/nvidia/x. Default: every image from the place
    at which its makers publish it.
    """
    pull_secret: str | None = None
    """Name of the Secret that pods pull with, such as that of RegistryCredentials. Default: none."""

    def __post_init__(self) -> None:
        """Raises ValueError for text that is not a registry."""
        keep_rules(self)

    def image(self, reference: str) -> str:
        """The place from which this image, or this repository of images, is pulled; by its digest if it is known. A
        registry that mirrors it has to keep the digest, with all its platforms.
        """
        pinned = by_digest(reference)
        if self.images is None or reference.startswith(f"{self.images}/"):
            return pinned
        return f"{self.images}/{_path_at_source(pinned)}"

    def fields(self, image: Image) -> dict[str, Any]:
        """The image spec of NVIDIA's custom resources: image, and what it is pulled with."""
        fields: dict[str, Any] = {**asdict(image), "repository": self.image(image.repository)}
        if self.pull_secret:
            fields["imagePullSecrets"] = [self.pull_secret]
        return fields

    def pull_secrets(self) -> list[dict[str, str]]:
        """A pod's imagePullSecrets."""
        return [{"name": self.pull_secret}] if self.pull_secret else []


SOURCES: Final = Registry()
"""Every image from the place at which its maker publishes it."""


def _path_at_source(reference: str) -> str:
    """The reference without its host; none means Docker Hub, which keeps images without a namespace in library/."""
    host, slash, path = reference.partition("/")
    if not slash:
        return f"library/{reference}"
    names_a_host = "." in host or ":" in host or host == "localhost"
    if not names_a_host:
        return reference
    return f"library/{path}" if host == _DOCKER_HUB and "/" not in path else path


@dataclass(frozen=True, kw_only=True)
class RegistryCredentialsArgs:
    """The arguments of RegistryCredentials."""

    namespace: pulumi.Input[Annotated[str, rules.namespace]]
    """The namespace in which pods are to pull with them. The namespace has to exist."""
    docker_config: pulumi.Input[str]
    """Content of a docker configuration file, JSON: {"auths": {"registry.example": {"auth": …}}}."""

    def __post_init__(self) -> None:
        """Raises ValueError for text that is not a namespace, and for a namespace of the system."""
        keep_rules(self)
        if isinstance(self.namespace, str) and (reason := why_not_ours(self.namespace)):
            raise ValueError(f"namespace is {self.namespace}; it {reason}")


class RegistryCredentials(pulumi.ComponentResource):
    """A registry's credentials in one namespace, as the Secret PULL_SECRET."""

    secret_name: pulumi.Output[str]
    """Name of the Secret."""

    def __init__(self, name: str, *, args: RegistryCredentialsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:RegistryCredentials", name, None, opts)
        encoded = pulumi.Output.from_input(args.docker_config).apply(
            lambda config: base64.b64encode(config.encode()).decode()
        )
        secret = kubernetes.core.v1.Secret(
            name,
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=PULL_SECRET, namespace=args.namespace, labels=metadata.labels(PULL_SECRET, "registry")
            ),
            type="kubernetes.io/dockerconfigjson",
            # Not stringData, which the server empties into this: to another manager that would be a conflict.
            data=pulumi.Output.secret({".dockerconfigjson": encoded}),
            opts=child_options(self, opts),
        )
        self.secret_name = secret.metadata.apply(lambda made: str(made.name))
        self.register_outputs({"secretName": self.secret_name})
