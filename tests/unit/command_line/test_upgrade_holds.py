"""`aks-infiniband upgrade`: the configuration that it writes, and the objects that hold a machine meanwhile."""

import json
from typing import Any

import pytest
from aks_infiniband_cli.machine_by_machine.upgrade import run
from aks_infiniband_cli.machine_by_machine.upgrade.hold import budget, holder

from tests.unit.command_line.validations import validation


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


def test_the_budget_lets_no_pod_go_that_holds_a_machine_of_the_pool() -> None:
    spec = budget("ndh100", "system")["spec"]
    labels = holder(validation(), "vmss000001")["metadata"]["labels"]
    assert spec["selector"]["matchLabels"].items() <= labels.items()
    assert spec["minAvailable"] > 1000, "more than any pool has, so that none may be evicted"


def test_a_machine_is_held_by_a_pod_that_every_node_takes_and_that_needs_no_image_of_its_own() -> None:
    pod = holder(validation(), "vmss000001")
    (container,) = pod["spec"]["containers"]
    assert pod["spec"]["nodeName"] == "vmss000001", "no scheduler: the node may be cordoned"
    assert pod["spec"]["tolerations"] == [{"operator": "Exists"}]
    assert container["image"] == validation().template["spec"]["containers"][0]["image"]
    assert container["resources"]["requests"] == {"cpu": "1m", "memory": "8Mi"}, "no device: the machine stays idle"
    security = container["securityContext"]
    assert (security["runAsNonRoot"], security["capabilities"]) == (True, {"drop": ["ALL"]})
