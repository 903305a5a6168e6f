"""The expectations of a pool, and the kernel's facts on a node."""

from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload.look.kernel import Roots, read_node
from aks_infiniband.validation.payload.look.port_rate import with_found_rate
from aks_infiniband.validation.pool_expectations import expectations, promised_labels

from tests.cases import GONE, Case, changes, plain
from tests.unit.validation.healthy import POOL, write_machine

_ENVIRONMENT: Final = {"NCCL_IB_HCA": "^mlx5_an", "PATH": "/bin"}


def outcome_of_expectations(case: Case) -> Any:
    """A pool's differences from the usual one in `pool`, and options. The difference of what is expected; all of it if
    the pool is the usual one. With `ports` that were found, the difference that they make.
    """
    options = {key: value for key, value in case.items() if key not in ("pool", "given", "ports")}
    given = {name: GivenThreshold(**bounds) for name, bounds in case.get("given", {}).items()}
    pool = {key: SIZES[value] if key == "size" else value for key, value in case.get("pool", {}).items()}
    if "ports" in case:
        before: Any = expectations(POOL.changed(**pool))
        return changes(plain(before), plain(with_found_rate(before, case["ports"])))
    usual = _expected(POOL)
    return changes(usual, _expected(POOL.changed(**pool), given=given, **options)) if case else usual


def _expected(pool: Pool, **options: Any) -> Any:
    promised = {"resources": pool.promised_resources, "labels": promised_labels(pool)}
    return plain({**expectations(pool, **options), "promised": promised})


def outcome_of_machine(case: Case) -> Any:
    """A node's `files` that are other ones by path, gone or with a text, and its `environment`; `gpus` is the pattern
    of GPUs' files, `notes` are those of Multus. `nowhere`: no file is there. The facts that are not usual ones, or all.
    """
    usual = _facts({})
    return changes(usual, _facts(case)) if case else usual


def _facts(case: Case) -> Any:
    with TemporaryDirectory() as name:
        folder = Path(name)
        roots = write_machine(folder) if "nowhere" not in case else Roots(*(folder / "nowhere" for _ in range(4)))
        for path, text in case.get("files", {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).unlink() if text == GONE else (folder / path).write_text(text, encoding="utf-8")
        if "notes" in case:
            (folder / "notes").write_text(case["notes"], encoding="utf-8")
            roots = roots._replace(attachments=folder / "notes")
        facts = read_node(roots, case.get("environment", _ENVIRONMENT), case.get("gpus", r"nvidia\d+"))
    return plain({**facts, "shm_bytes": (facts["shm_bytes"] or 0) > 0})


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "expectations": outcome_of_expectations,
    "machine": outcome_of_machine,
}
