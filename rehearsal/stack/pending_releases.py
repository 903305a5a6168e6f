"""Takes back what Helm wrote down of a release while the engine that made it was killed.

The stack does not know the release, or knows an older one, and Helm refuses to install it again ("cannot re-use a name
that is still in use") or to upgrade it ("another operation is in progress"). Without that record Helm takes over the
objects that are there, for they bear the release's name. A person runs `helm uninstall`, or `helm rollback`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import Secret

_RELEASE: Final = "kubernetes:helm.sh/v3:Release"
_UNDER_WAY: Final = ["pending-install", "pending-upgrade", "pending-rollback"]
"""Values of the label `status` of Helm's records. Assumed except for pending-install and pending-upgrade, which users
of Helm 3.19 have met.
"""


def pending_releases(deployment: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Namespace and labels of Helm's records that are in the way: all of a release that was being installed, and the
    last of one that was being upgraded.
    """
    for operation in deployment.get("pending_operations") or []:
        resource = operation["resource"]
        if resource["type"] == _RELEASE and operation["type"] in {"creating", "updating"}:
            inputs = resource["inputs"]
            labels = {"owner": "helm", "name": inputs["name"]}
            under_way = {} if operation["type"] == "creating" else {"status": _UNDER_WAY}
            yield inputs.get("namespace") or "default", {**labels, **under_way}


def forget_pending_releases(deployment: Mapping[str, Any], kubeconfig: Path) -> None:
    """Delete those records. deployment: the stack's state, as the engine keeps it."""
    if releases := list(pending_releases(deployment)):
        client = Client(config=KubeConfig.from_file(kubeconfig), trust_env=False)
        for namespace, labels in releases:
            for record in client.list(Secret, namespace=namespace, labels=labels):
                if record.metadata and record.metadata.name:
                    client.delete(Secret, record.metadata.name, namespace=namespace)
