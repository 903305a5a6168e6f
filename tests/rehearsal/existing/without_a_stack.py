"""`aks-infiniband` in a cluster without a stack, as a person runs it, and what of it is in the cluster."""

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.validation.access_documents import RBAC
from aks_infiniband_cli.validate.unmanaged.documents import LABELS
from aks_infiniband_cli.validate.unmanaged.rights import Right
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Namespace, Node, ServiceAccount, ServiceAccountToken
from lightkube.resources.rbac_authorization_v1 import ClusterRole, ClusterRoleBinding

from tests.rehearsal.stacks.conftest import Stack

_COMMAND: Final = str(Path(sys.executable).with_name("aks-infiniband"))
_LIMIT_SECONDS: Final = 300
_NETWORK_OPERATORS: Final = ("nicclusterpolicies", "nicnodepolicies", "ipoibnetworks")
_KINDS: Final[tuple[Any, ...]] = (Namespace, ClusterRole, ClusterRoleBinding)
FABRIC: Final = "example.com/fabric=ndh100"
"""The label of the pool's nodes."""


READS: Final = (
    *(Right(resource=f"{plural}.mellanox.com", verb="list") for plural in _NETWORK_OPERATORS),
    *(Right(resource=f"{plural}.resource.k8s.io", verb="list") for plural in ("resourceslices", "deviceclasses")),
    *(
        Right(resource=resource, verb="list")
        for resource in ("nodes", "pods", "configmaps", "jobs.batch", "daemonsets.apps")
    ),
)
"""The objects that `validate` reads before it knows if it makes anything (docs/validate.md)."""


@contextmanager
def login(stack: Stack, folder: Path, rights: Iterable[Right]) -> Iterator[Path]:
    """The kubeconfig of a user who has these rights in every namespace, and no other."""
    cluster, name = stack.cluster(), "somebody"
    metadata = {"name": name}
    subject = {"kind": "ServiceAccount", "name": name, "namespace": "default"}
    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": name}
    made: tuple[Any, ...] = (
        ServiceAccount.from_dict({"metadata": {**metadata, "namespace": "default"}}),
        ClusterRole.from_dict({"metadata": metadata, "rules": [_rule(right) for right in rights]}),
        ClusterRoleBinding.from_dict({"metadata": metadata, "roleRef": role, "subjects": [subject]}),
    )
    for each in made:
        cluster.create(each)
    asked = ServiceAccountToken(metadata=ObjectMeta(), spec=TokenRequestSpec(audiences=[]))
    given = cluster.create(asked, name, namespace="default")
    assert given.status
    config = yaml.safe_load(stack.rehearsal.run.kubeconfig.read_text())
    config["users"] = [{"name": user["name"], "user": {"token": given.status.token}} for user in config["users"]]
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))
    try:
        yield folder / "kubeconfig"
    finally:
        cluster.delete(ServiceAccount, name, namespace="default")
        cluster.delete(ClusterRole, name)
        cluster.delete(ClusterRoleBinding, name)


def _rule(right: Right) -> dict[str, list[str]]:
    resource, _, group = right.resource.partition(".")
    return {"apiGroups": [group], "resources": [resource], "verbs": [right.verb]}


def words(stack: Stack, *given: str) -> list[str]:
    """A command line for the cluster, unless it names another kubeconfig."""
    place = [] if "--kubeconfig" in given else ["--kubeconfig", str(stack.rehearsal.run.kubeconfig)]
    return [_COMMAND, *given, *place]


def _ended(given: list[str], code: int) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(given, check=False, capture_output=True, text=True, timeout=_LIMIT_SECONDS)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def command(stack: Stack, *given: str, code: int) -> "subprocess.CompletedProcess[str]":
    """A command to its end, which must be this exit code."""
    return _ended(words(stack, *given), code)


def printed(*given: str, code: int) -> str:
    """The output of a command that reads no cluster."""
    return _ended([_COMMAND, *given], code).stdout


def validate(stack: Stack, *given: str, code: int) -> dict[str, Any]:
    """The output of `validate` for a program."""
    found: dict[str, Any] = json.loads(command(stack, "validate", "--output", "json", *given, code=code).stdout)
    return found


def brought(stack: Stack) -> set[str]:
    """All that a run has brought and that is not in its namespace, and the namespace."""
    labels: dict[str, Any] = {"app.kubernetes.io/managed-by": LABELS["app.kubernetes.io/managed-by"]}
    found = [(kind, found) for kind in _KINDS for found in stack.cluster().list(kind, labels=labels)]
    return {f"{kind.__name__} {each.to_dict()['metadata']['name']}" for kind, each in found}


def everything(stack: Stack) -> set[str]:
    """Namespaces and roles; of nodes their specs, conditions and our marks: operators write labels at any time."""
    cluster = stack.cluster()
    found = {f"{kind.__name__} {each.to_dict()['metadata']['name']}" for kind in _KINDS for each in cluster.list(kind)}
    for node in (node.to_dict() for node in cluster.list(Node)):
        metadata, name = node["metadata"], node["metadata"]["name"]
        found |= {f"{name} {key}: {value}" for key, value in node["spec"].items()}
        found |= {f"{name} condition {each['type']}" for each in node["status"]["conditions"]}
        marks = {**metadata["labels"], **metadata["annotations"]}
        found |= {f"{name} {key}={value}" for key, value in marks.items() if key.startswith("aks-infiniband/")}
    return found
