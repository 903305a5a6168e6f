"""The objects that hold a machine while another of its pool is upgraded: plain documents."""

from aks_infiniband_cli.machine_by_machine.upgrade.hold import budget, holder

from tests.unit.command_line.validations import validation


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
