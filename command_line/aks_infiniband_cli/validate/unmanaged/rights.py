"""The rights that a run without a stack needs, checked before anything is made."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.validation.access_documents import RBAC
from lightkube import Client
from lightkube.models.authorization_v1 import ResourceAttributes, SelfSubjectAccessReviewSpec
from lightkube.resources.authorization_v1 import SelfSubjectAccessReview

from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.unmanaged.documents import Brought

_IN_CLUSTER: Final = ("Namespace", "ClusterRole", "ClusterRoleBinding")
_MEASURES: Final = {
    "jobs.batch": ("create", "get", "patch", "delete"),
    "configmaps": ("create", "get", "patch"),
    "pods": ("list",),
    f"roles.{RBAC}": ("create",),
    f"rolebindings.{RBAC}": ("create",),
}
"""The objects that a measurement makes and reads in its namespace. A login that grants a right must have it, so reading
nodes and patching ConfigMaps are among them.
"""
_READS: Final = {"jobs.batch": ("create", "get", "delete"), "pods": ("list",), "pods/log": ("get",)}
"""The same of a machine that is only read."""
_KEEPS: Final = {"leases.coordination.k8s.io": ("create", "get", "patch")}
_OF_CLUSTER: Final = {"namespaces": ("create", "get", "list", "delete"), "nodes": ("get", "list")}


@dataclass(frozen=True, order=True, kw_only=True, slots=True)
class Right:
    """A right that a login needs."""

    resource: str
    """Plural, with its group, such as jobs.batch."""
    verb: str
    namespace: str = ""
    """Empty for all of the cluster."""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}{f' in namespace {self.namespace}' if self.namespace else ''}"


def needed(brought: Brought, *, cordon: bool = False) -> list[Right]:
    """The rights for all of a run, each once. cordon: whether nodes are cordoned."""
    measures = brought.access is not None
    inside = [*_of_table({**(_MEASURES if measures else _READS), **_KEEPS}, brought.name)]
    made = [_creation(document, brought.name) for document in (brought.namespace, *brought.contents(""))]
    nodes = [Right(resource="nodes", verb="patch")] if cordon else []
    return sorted({*inside, *made, *nodes, *_of_table(_OF_CLUSTER, "")})


def _of_table(table: Mapping[str, Iterable[str]], namespace: str) -> Iterator[Right]:
    for resource, verbs in table.items():
        for verb in verbs:
            yield Right(resource=resource, verb=verb, namespace=namespace)


def _creation(document: Mapping[str, Any], namespace: str) -> Right:
    kind, (group, _, _) = str(document["kind"]), document["apiVersion"].rpartition("/")
    plural = f"{kind.lower()}s"
    place = "" if kind in _IN_CLUSTER else namespace
    return Right(resource=f"{plural}.{group}" if group else plural, verb="create", namespace=place)


def require(client: Client, rights: Iterable[Right]) -> None:
    """Raises CommandError that names every right that is missing, and if the cluster does not answer."""
    try:
        missing = [str(right) for right in rights if not _allowed(client, right)]
    except NO_ANSWER as error:
        raise CommandError(f"the cluster does not say what your login may do: {error}") from error
    if missing:
        raise CommandError(
            f"nothing was made in the cluster, because your login may not {'; '.join(missing)}. An administrator of "
            "the cluster may"
        )


def _allowed(client: Client, right: Right) -> bool:
    path, _, group = right.resource.partition(".")
    resource, _, subresource = path.partition("/")
    asked = ResourceAttributes(
        verb=right.verb,
        group=group,
        resource=resource,
        subresource=subresource or None,
        namespace=right.namespace or None,
    )
    review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resourceAttributes=asked))
    answer = client.create(review)
    return bool(answer.status and answer.status.allowed)
