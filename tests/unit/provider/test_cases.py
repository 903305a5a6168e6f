"""Components as other languages have them: arguments and errors are those of tests/unit/provider/cases, and the
resources are those of the same component in Python.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from declared.pulumi_mocks import Deploy
from tests.cases import GIVES, Case
from tests.unit.library.public import named
from tests.unit.provider.cases import CASES, arguments_of, as_the_engine
from tests.unit.provider.provider_process import construct, declared, resources

RULES = CASES.by_rule()
TAKING = [case for cases in RULES.values() for file, case in cases if file.stem.startswith("arguments")]
READING = {"ExistingGpuOperator", "ExistingNetworkOperator"}
"""Components that read a cluster in `up`."""


@pytest.mark.parametrize("cases", RULES.values(), ids=RULES)
def test_inputs_lead_to_these_arguments_or_errors(cases: list[tuple[Path, Case]]) -> None:
    assert cases
    for file, case in cases:
        assert CASES.outcome(file, case) == case[GIVES], case


def test_a_case_of_every_component_has_all_of_its_inputs() -> None:
    written: dict[str, set[str]] = {}
    for case in TAKING:
        written.setdefault(case["component"], set()).update(case["inputs"])
    served = {name: set(about["inputProperties"]) for name, about in resources().items() if name != "RdmaCluster"}
    assert written == served


@pytest.mark.parametrize("case", TAKING, ids=[case["component"] for case in TAKING])
def test_a_component_declares_what_it_declares_in_python(deploy: Deploy, case: Case) -> None:
    component, args = case["component"], arguments_of(case)

    def in_python() -> None:
        named(component)("rdma", args=args)

    def elsewhere() -> Any:
        return construct(component, as_the_engine(case["inputs"]))

    states: Any = {"feature_states": ["NotRegistered"]} if component == "FeatureAbsence" else {}
    ours, theirs = (deploy(program, preview=component in READING, **states) for program in (in_python, elsewhere))
    assert declared(theirs) == declared(ours)
    assert set(resources()[component]["required"]) <= theirs.result.keys()
    assert json.dumps(theirs.result), "every output can be handed on"
