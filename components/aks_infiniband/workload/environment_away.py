"""Variables of an environment that take InfiniBand away from NCCL, UCX, Open MPI, libfabric, MPICH and Intel MPI."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.facts.tables import table

VARIABLES: Final[list[Mapping[str, Any]]] = table(__package__, "environment_away.yaml")["variables"]


def taken_away(environment: Mapping[str, str], *, gpus: bool) -> Iterator[tuple[str, str, str]]:
    """The variables that take InfiniBand away: each as NAME=VALUE, what it does, and what helps.

    gpus: whether the container has GPUs. Without any, NCCL carries nothing, whatever its variables say.
    """
    for variable in VARIABLES:
        value = environment.get(variable["name"], "").strip()
        harmless = "unless" in variable and environment.get(variable["unless"], "").lower() == "ucx"
        harmless |= gpus and any(environment.get(name) for name in variable.get("starts_only", ()))
        if value and not harmless and _takes(variable, value.lower()):
            yield f"{variable['name']}={value}", variable["says"], variable["fix"]


def _takes(variable: Mapping[str, Any], value: str) -> bool:
    if "is" in variable:
        return re.fullmatch(variable["is"], value) is not None
    words = re.split("[,;:]", value.removeprefix("^"))
    if value.startswith("^"):
        return any(word in variable.get("without", ()) for word in words)
    return not any(word.startswith(tuple(variable["lacks"])) for word in words)
