"""A pool of GPU machines loses one after the other to the faults of the field, and comes back whole without a person.

Four machines by default, because a machine is measured together with three others in any pool, and an `up` of 16 takes
five minutes more. `REPLACE_MACHINES=16` is the run in docs/replace.md.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.replace.replacing import BEFORE, CURED_BY_ANOTHER_HOST, Fleet, fleet, steps, tell

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
FAULTS: Final[tuple[tuple[str, list[dict[str, Any]], tuple[str, ...]], ...]] = (
    ("all HCAs at 351 of 400 Gb/s", [{"name": "slow", "factor": 351 / 400}], ("bandwidth (mlx5_0)", "(mlx5_7)")),
    (
        "two HCAs at 321 of 400 Gb/s",
        [{"name": "slow", "device": device, "factor": 321 / 400} for device in ("mlx5_2", "mlx5_5")],
        ("bandwidth (mlx5_2)", "(mlx5_5)"),
    ),
    ("8 % below the others", [{"name": "slow", "factor": 0.92}], ("all-reduce-pairs",)),
    ("a throttled GPU", [{"name": "throttled-gpu", "gpu": 3, "factor": 0.6}], ("gpu-throttling",)),
    ("a GPU on half of its PCIe lanes", [{"name": "half-lanes", "gpu": 5}], ("gpu-pcie",)),
)
"""Faults of the rehearsal, and the names in the verdict."""


@pytest.fixture(scope="module")
def ndh100(rehearse_ours: RehearseOurs) -> Fleet:
    return fleet(rehearse_ours("dev"), machines=4)


@pytest.mark.parametrize(("what", "faults", "named"), FAULTS, ids=[what for what, _, _ in FAULTS])
def test_a_machine_is_found_bad_after_its_restart_and_cured_by_another_host(
    ndh100: Fleet, evidence: Path, what: str, faults: list[dict[str, Any]], named: tuple[str, ...]
) -> None:
    node = ndh100.node(1)
    for fault in faults:
        ndh100.stack.fault(node=node, curedBy="redeploy", **fault)
    code, case = ndh100.replaced(evidence, node)
    tell(what, case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_ANOTHER_HOST)
    verdict = next(line["what"] for line in case["lines"] if line["step"] == "Bad")
    assert [part for part in named if part not in verdict] == [], verdict
    assert ndh100.is_whole()


def test_a_machine_with_seven_of_eight_gpus_of_which_it_lists_none_is_left_to_you(
    ndh100: Fleet, evidence: Path
) -> None:
    """A simulated machine does not have the driver's nvidia-smi. No Job of the validation fits on this one."""
    node = ndh100.node(2)
    ndh100.stack.fault("missing-gpu", node=node, gpu=6)
    code, case = ndh100.replaced(evidence, node, "--limit-minutes", "1.5")
    tell("7 of 8 GPUs", case)
    assert (code, case["outcome"], steps(case)) == (1, "not decided", [*BEFORE, "Ended"])
    why = case["lines"][-1]["what"]
    assert "nvidia.com/gpu 7, expected at least 8" in why
    assert "lists no GPU, which proves nothing; it stays in quarantine" in why
