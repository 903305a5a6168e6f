"""The init container with which each pod of the validation awaits all nodes of its pool, as a plain document.

The operators report ready before every node offers its resources, so no pod looks at its own node before all nodes
have offered them for a while.
"""

from typing import Any, Final

from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.expectations import promised_labels
from aks_infiniband.validation.job import (
    LIMITS,
    api_arguments,
    container,
    payload_mount,
    python_environment,
    shared_mount,
)
from aks_infiniband.validation.options import Waits

_NOBODY: Final = 65534


def await_nodes_container(pool: Pool, *, waits: Waits, image: str) -> dict[str, Any]:
    """Container that ends well once every node of the pool is Ready and has offered what the pool promises for a while.

    It holds no device: a pod's effective request is the larger of its init containers' and its containers'.
    """
    selector = ",".join(f"{key}={value}" for key, value in sorted(pool.node_selector.items()))
    promised = [f"--resource={name}={least}" for name, least in sorted(pool.promised_resources.items())]
    return {
        **container("await-nodes", image),
        "args": [
            "--pool",
            pool.name,
            "--selector",
            selector,
            "--nodes",
            str(pool.node_count),
            *promised,
            *(f"--label={name}={value}" for name, value in sorted(promised_labels(pool).items())),
            "--poll-seconds",
            f"{waits.poll_seconds:g}",
            "--stable-seconds",
            f"{waits.stable_seconds:g}",
            "--timeout-seconds",
            f"{waits.timeout_seconds:g}",
            *("--proc", "/proc", "--limits", LIMITS),
            *api_arguments(),
        ],
        "env": python_environment(),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "runAsGroup": _NOBODY,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
        "volumeMounts": [payload_mount(), shared_mount()],
    }
