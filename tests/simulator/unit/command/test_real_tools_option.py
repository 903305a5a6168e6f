"""Refusals of a rehearsal with real tools at the door: nothing is started or downloaded for it."""

import json
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.baselines.choice import threshold
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.payload.rdma.tools import KINDS
from aks_infiniband.validation.payload.say.expectations import falls_short

from rehearsal.control_plane import RunFolder
from rehearsal.faults.checking import FaultsError
from rehearsal.session import Rehearsal
from rehearsal.stack.real_tools import check, with_real_tools
from rehearsal.stack.stack_file import StackFileError
from rehearsal.testing.stack import RehearsedStack
from rehearsal.tools.paths import PROJECT


def test_a_test_with_real_tools_is_told_that_its_fault_would_break_nothing(tmp_path: Path) -> None:
    rehearsal = Rehearsal(project=PROJECT, stack="hbv4", run=RunFolder.at(tmp_path), real_tools=True)
    with pytest.raises(FaultsError, match="TOOLS=real goes without faults"):
        RehearsedStack(rehearsal).fault("link-down")


@pytest.mark.parametrize("text", [False, True])
def test_a_size_that_the_stack_file_describes_has_to_fit_too(*, text: bool) -> None:
    sizes = {"Standard_HB999rs_v9": {"vcpus": 999, "infiniband": {"hcaCount": 3, "generation": "NDR"}}}
    config = {
        "aks-infiniband:pools": [{"name": "new", "vmSize": "Standard_HB999rs_v9", "count": 2}],
        "aks-infiniband:sizes": json.dumps(sizes) if text else sizes,
    }
    with pytest.raises(StackFileError, match=r"TOOLS=real: Standard_HB999rs_v9 has 3 HCAs; .* at most 2 HCAs"):
        check({"config": config}, faults=None, clusters=1)


def test_with_real_tools_any_figure_of_rdma_is_enough_and_other_settings_stay() -> None:
    own = {"mode": "enforce", "timeoutSeconds": 240, "thresholds": {"all-reduce": {"fail": 5}}}
    document = with_real_tools({"config": {"aks-infiniband:validation": own}})

    validation = document["config"]["aks-infiniband:validation"]
    assert validation["mode"] == "enforce"
    assert validation["timeoutSeconds"] > 240
    options = ValidationOptions.model_validate(validation)
    assert options.thresholds["all-reduce"].fail == 5
    for figure in (figure for kind in KINDS.values() for figure in kind.figures):
        limit: Any = threshold(figure, None, options.thresholds[figure])
        assert not any(falls_short(value, limit) for value in (0.001, 1e6))
