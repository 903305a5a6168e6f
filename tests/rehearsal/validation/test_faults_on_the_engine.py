"""Each fault of a machine makes `up` fail with the right node, device and cause."""

import json
import re
from typing import Any

import pytest

from rehearsal.faults.machine_faults import FILE
from tests.rehearsal.validation.conftest import Validated

FAULTS: dict[str, tuple[dict[str, Any], str, str, str]] = {
    "link-down": ({"device": "mlx5_ib3"}, "hca-state", "{node} (mlx5_ib3)", "the subnet manager has not brought"),
    "half-rate": ({"device": "mlx5_ib3"}, "hca-rate", "{node} (mlx5_ib3)", "the link trained with fewer lanes"),
    "missing": ({"device": "mlx5_ib3"}, "hca-count", "{node}", "A missing one is a fault of the host"),
    "slow": (
        {"device": "mlx5_ib3", "factor": 0.5},
        "rdma-write-bandwidth",
        "{node} (mlx5_ib3)",
        "whose HCAs do not fall short with others",
    ),
    "no-peermem": ({}, "collective-transport", "", "peermem"),
    "no-libibverbs": ({}, "collective-transport", "", "TCP sockets"),
}
"""By fault: what it needs; check, place and cause that the failed update's table has of it."""


def rows(said: str) -> list[list[str]]:
    """The cells of everything that is in columns."""
    return [re.split(r"\s{2,}", line.strip()) for line in said.splitlines() if "  " in line.strip()]


@pytest.fixture(scope="module")
def pool(validated: Validated) -> str:
    validated.pool("faulty", fabrics=("one", "one"))
    return "faulty"


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_fails_the_update_and_is_explained(validated: Validated, pool: str, fault: str) -> None:
    needs, check, where, cause = FAULTS[fault]
    _, node = validated.machines(pool)
    entry: dict[str, Any] = {"fault": fault, "node": node, **needs}
    file = validated.folder.parent / "run" / FILE
    file.write_text(json.dumps([entry]))
    try:
        outcome = validated.run("up", pool)
    finally:
        file.unlink()
    assert not outcome.succeeded
    assert node in outcome.said
    found = rows(outcome.said)
    assert ["CHECK", "WHERE", "EXPECTED", "MEASURED", "LIKELY CAUSE"] in found
    assert [
        cells
        for cells in found
        if cells[0] == check and cells[1].startswith(where.format(node=node)) and cause in cells[-1]
    ], outcome.said
    assert f"next: kubectl -n {pool} get configmap {pool}-validation-report -o jsonpath=" in outcome.said
    assert "run `pulumi up` again" in outcome.said
