"""Every component of the library, in every language: the same resources as in Python."""

import json
from typing import Any

import pytest
from pulumi.provider.server import ComponentInitError

from declared.pulumi_mocks import Deploy
from tests.unit.library.public import named
from tests.unit.provider.parity import TWICE
from tests.unit.provider.provider_process import construct, declared, resources

OF_ITS_OWN = {"RdmaCluster"}
"""Components whose settings `test_constructs` gives."""
PREVIEW = {"ExistingGpuOperator", "ExistingNetworkOperator"}
"""Components that read a cluster in `up`."""


def test_every_component_is_compared_with_pythons_in_all_of_its_inputs() -> None:
    given = {component: set(inputs) for component, (inputs, _) in TWICE.items()}
    served = {name: set(about["inputProperties"]) for name, about in resources().items()}
    assert given == {name: inputs for name, inputs in served.items() if name not in OF_ITS_OWN}


@pytest.mark.parametrize("component", TWICE)
def test_a_component_declares_what_it_declares_in_python(deploy: Deploy, component: str) -> None:
    inputs, arguments = TWICE[component]
    args = named(f"{component}Args")(**arguments())
    preview = component in PREVIEW

    def in_python() -> None:
        named(component)("rdma", args=args)

    def elsewhere() -> Any:
        return construct(component, inputs)

    states: Any = {"feature_states": ["NotRegistered"]} if component == "FeatureAbsence" else {}
    ours, theirs = (deploy(program, preview=preview, **states) for program in (in_python, elsewhere))
    assert declared(theirs) == declared(ours)
    promised = set(resources()[component]["required"])
    assert promised <= theirs.result.keys()
    assert json.dumps(theirs.result), "every output can be handed on"


@pytest.mark.parametrize("component", TWICE)
def test_inputs_become_the_arguments_that_a_program_in_python_gives(
    monkeypatch: pytest.MonkeyPatch, component: str
) -> None:
    inputs, arguments = TWICE[component]
    assert taken(monkeypatch, component, inputs) == named(f"{component}Args")(**arguments())


def test_a_pool_is_told_to_volcano_without_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = {"pool": TWICE["PoolTopology"][0]["pool"], "scheduler": "volcano"}
    assert taken(monkeypatch, "PoolTopology", inputs).scheduler == "volcano"


class TakenError(Exception):
    """Carries the arguments."""


def taken(monkeypatch: pytest.MonkeyPatch, component: str, inputs: dict[str, Any]) -> Any:
    """The arguments that the library gets. Nothing is made."""

    def take(self: object, name: str, *, args: Any, opts: object = None) -> None:
        raise TakenError(args)

    monkeypatch.setattr(named(component), "__init__", take)
    with pytest.raises(ComponentInitError) as error:
        construct(component, inputs)
    assert isinstance(error.value.inner, TakenError), error.value.inner
    return error.value.inner.args[0]
