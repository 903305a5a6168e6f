"""`aks-infiniband upgrade` before it begins: flags and configuration; plans are in `cases`."""

import json
from typing import Any

import pytest
from aks_infiniband_cli.machine_by_machine.upgrade import run


@pytest.mark.parametrize("as_text", [False, True], ids=["YAML", "JSON text"])
def test_cluster_and_pools_take_the_version_in_each_form_that_the_loader_takes(as_text: bool) -> None:
    given: dict[str, Any] = {
        "aks-infiniband:cluster": {"kubernetesVersion": "1.35"},
        "aks-infiniband:pools": [{"name": "nd", "kubernetesVersion": "1.35"}],
    }
    configuration = {key: json.dumps(value) if as_text else value for key, value in given.items()}
    found = run._with(configuration, "1.36")
    assert found["aks-infiniband:cluster"] == {"kubernetesVersion": "1.36"}
    assert found["aks-infiniband:pools"] == [{"name": "nd"}]
