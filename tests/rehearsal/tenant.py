"""A tenant, who has `edit` in some namespaces and no right elsewhere, and what such a login can forge."""

from collections.abc import Mapping
from typing import Any, Final

from lightkube import Client, KubeConfig, codecs
from lightkube.config.models import User
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, ServiceAccount, ServiceAccountToken

from rehearsal.testing.stack import RehearsedStack

TEAM: Final = "team"
_RBAC: Final = "rbac.authorization.k8s.io"
OFED: Final = {"nvidia.com/ofed-driver": ""}
HOST_ENGINE: Final = {"app": "nvidia-dcgm"}


def tenant(stack: RehearsedStack, *namespaces: str) -> Client:
    """A login with `edit` in a namespace of the team, which is made, and in further ones that are there."""
    cluster = stack.cluster()
    cluster.create(Namespace(metadata=ObjectMeta(name=TEAM)))
    cluster.create(ServiceAccount(metadata=ObjectMeta(name="tenant", namespace=TEAM)))
    for namespace in (TEAM, *namespaces):
        create(
            cluster,
            *("RoleBinding", "tenant", namespace),
            roleRef={"apiGroup": _RBAC, "kind": "ClusterRole", "name": "edit"},
            subjects=[{"kind": "ServiceAccount", "name": "tenant", "namespace": TEAM}],
        )
    asked = ServiceAccountToken(metadata=ObjectMeta(), spec=TokenRequestSpec(audiences=[]))
    given = cluster.create(asked, "tenant", namespace=TEAM)
    assert given.status
    known = next(iter(KubeConfig.from_file(stack.rehearsal.run.kubeconfig).clusters.values()))
    return Client(config=KubeConfig.from_one(cluster=known, user=User(token=given.status.token)), trust_env=False)


def create(client: Client, kind: str, name: str, namespace: str = TEAM, **rest: Any) -> str:
    """Make an object of a kind that the client knows. Returns its UID."""
    versions = {"Job": "batch/v1", "DaemonSet": "apps/v1", "RoleBinding": f"{_RBAC}/v1"}
    metadata = {"name": name, "namespace": namespace, **rest.pop("metadata", {})}
    document = {"apiVersion": versions.get(kind, "v1"), "kind": kind, "metadata": metadata, **rest}
    made: Any = client.create(codecs.from_dict(document))
    return str(made.metadata.uid)


def pod(command: str, **rest: Any) -> dict[str, Any]:
    """The spec of a pod that is kept off no node."""
    main = {"name": "nvidia-dcgm-ctr", "image": "x:1", "command": ["python3", "-c", command]}
    return {"tolerations": [{"operator": "Exists"}], "containers": [main], **rest}


def template(labels: Mapping[str, str], spec: Mapping[str, Any]) -> dict[str, Any]:
    """A template of pods."""
    return {"metadata": {"labels": dict(labels)}, "spec": spec}


def repair(client: Client, node: str, namespace: str) -> None:
    """An Event that says of a node what AKS's repair would say.

    In another namespace than `default` the API server takes none about an object without a namespace (422).
    """
    about = {"apiVersion": "v1", "kind": "Node", "name": node}
    create(
        client,
        *("Event", f"repair-{node}", namespace),
        source={"component": "aks-auto-repair"},
        reason="NodeRebootStart",
        message="Node auto-repair is initiating a reboot action",
        type="Normal",
        involvedObject=about if namespace == "default" else {**about, "namespace": namespace},
        firstTimestamp="2126-11-28T00:00:00Z",
        lastTimestamp="2126-11-28T00:00:00Z",
    )
