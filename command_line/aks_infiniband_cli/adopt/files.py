"""The files that `adopt` writes: the stack file, and the file for `pulumi import`."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final

import yaml
from aks_infiniband.terminal import page

from aks_infiniband_cli.adopt.describing import TakenOver

CLUSTER: Final = "rdma"
"""The name of the RdmaCluster in the project's program, `__main__.py`."""
_OURS: Final = "aks-infiniband:index"
_SCHEMA: Final = "# yaml-language-server: $schema=docs/settings.schema.json"


def stack_text(configuration: Mapping[str, Any], *, cluster: str) -> str:
    """The text of the stack file. cluster: what it describes, in words."""
    notes = [
        f"{cluster}, as the command `adopt` has found it.",
        f"Resources that others made stay theirs; {page('existing-cluster')} lists the owners.",
    ]
    text = yaml.safe_dump({"config": dict(configuration)}, sort_keys=False, width=1000)
    return "\n".join([_SCHEMA, *(f"# {note}" for note in notes), text])


def import_text(taken: Sequence[TakenOver]) -> str:
    """The document for `pulumi import --file`: each pool as a child of the components that the program makes."""
    resources: list[dict[str, Any]] = [
        {"type": f"{_OURS}:RdmaCluster", "name": "cluster", "logicalName": CLUSTER, "component": True},
        {
            "type": f"{_OURS}:AdoptedPools",
            "name": "pools",
            "logicalName": CLUSTER,
            "component": True,
            "parent": "cluster",
        },
    ]
    for pool in taken:
        logical = f"{CLUSTER}-{pool.name}"
        kind = "InfinibandNodePool" if pool.infiniband else "OrdinaryNodePool"
        resources += [
            {
                "type": f"{_OURS}:{kind}",
                "name": f"component of {pool.name}",
                "logicalName": logical,
                "component": True,
                "parent": "pools",
            },
            {
                "type": "azure-native:containerservice:AgentPool",
                "name": pool.name,
                "logicalName": logical,
                "id": pool.id,
                "parent": f"component of {pool.name}",
                # That of the program: another version would be another provider in the state.
                "version": version("pulumi-azure-native"),
            },
        ]
    return json.dumps({"resources": resources}, indent=2) + "\n"
