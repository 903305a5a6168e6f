"""Every mistake in a stack file is found at the door, all of them at once, each with its key and what is allowed."""

import json
import time
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from aks_infiniband import load
from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.stack.settings.mistakes import model_in
from aks_infiniband.stack.settings.model import Settings

from tests.unit.components.stack_files import GOOD, changed, loaded, made, mistakes, pool


def test_defaults_complete_a_minimal_stack() -> None:
    stack = load(GOOD)
    assert made(stack).cluster.location == "southcentralus"
    assert stack.pools[0].size.infiniband.rate_gbps == 400
    assert stack.pools[0].mode == "rdma-shared"
    assert stack.settings.validation.mode == "enforce"


def test_pulumis_json_text_and_plain_data_are_the_same() -> None:
    as_text = {key: value if isinstance(value, str) else json.dumps(value) for key, value in GOOD.items()}
    assert load(as_text) == load(GOOD)


def test_other_namespaces_are_none_of_our_business() -> None:
    assert load({**GOOD, "kubernetes:context": "elsewhere"}) == load(GOOD)


def test_settings_cannot_be_changed_after_the_door() -> None:
    with pytest.raises(FrozenInstanceError):
        load(GOOD).memlock = True  # type: ignore[misc]  # that is what is tested


@pytest.mark.parametrize("form", [json.dumps, list])
def test_20_000_pools_are_answered_at_once_and_not_one_by_one(form: Any) -> None:
    many = [{"name": f"P {number}", "vmSize": "x", "count": 0} for number in range(20_000)]
    began = time.monotonic()
    found = mistakes({**changed(), "aks-infiniband:pools": form(many)})
    assert found == {"pools": ANY}
    assert found["pools"].startswith("must hold 99 pools at most, in addition to the system pool")
    assert time.monotonic() - began < 10


def test_a_threshold_of_an_unknown_figure_is_refused_with_every_figure_that_there_is() -> None:
    found = mistakes(changed(validation={"thresholds": {"quickness": {"fail": 1}}}))
    reason = found["validation.thresholds.quickness"]
    assert "did you mean" not in reason
    assert reason.partition("known: ")[2].split(", ") == list(FIGURES)


def test_every_setting_says_what_it_is() -> None:
    def undocumented(model: Any, path: Any) -> Any:
        for name, field in model.model_fields.items():
            nested = model_in(field.annotation)
            if nested:
                yield from undocumented(nested, f"{path}.{name}")
            if not field.description and not (nested and nested.__doc__):
                yield f"{path}.{name}"

    assert list(undocumented(Settings, "")) == []


def test_every_size_of_the_catalogue_makes_a_pool() -> None:
    for size in SIZES:
        stack = loaded(pools=[pool(vmSize=size)])
        assert stack.pools[0].size is SIZES[size]


def test_a_program_of_somebody_elses_need_not_have_the_default_files_of_values(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    loaded()
    assert set(mistakes(changed(gpuOperator={"valuesFile": "values/gpu-operator.yaml"}))) == {"gpuOperator.valuesFile"}
