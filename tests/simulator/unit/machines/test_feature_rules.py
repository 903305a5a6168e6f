from typing import Any

import pytest

from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.nodes.feature_discovery import built_in_labels, features_of, gpu_labels
from rehearsal.machines.nodes.feature_rules import Features, expression_matches, labels_of_rules

NODE_INFO = {"kernelVersion": "6.8.0-1031-azure", "osImage": "Ubuntu 24.04.3 LTS"}
H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
SYSTEM = hardware_of(size="Standard_D8s_v5", machine="node-1", fabric="none")
FEATURES = features_of(H100, NODE_INFO, "node-0")
NFD = "feature.node.kubernetes.io"


def rule(name: str = "rule", **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"rules": [{"name": name, "labels": {"found": "yes"}} | fields]}}


def pci(**expressions: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"feature": "pci.device", "matchExpressions": expressions}]


@pytest.mark.parametrize(
    ("op", "operands", "value", "expected"),
    [
        ("In", ["a", "b"], "b", True),
        ("In", ["a"], "b", False),
        ("In", ["a"], None, False),
        ("NotIn", ["a"], "b", True),
        ("NotIn", ["a"], None, False),
        ("InRegexp", ["^10(1c|1e)$"], "101e", True),
        ("InRegexp", ["^10$"], "101e", False),
        ("Exists", [], "", True),
        ("Exists", [], None, False),
        ("DoesNotExist", [], None, True),
        ("DoesNotExist", [], "x", False),
        ("Gt", ["5"], "6", True),
        ("Gt", ["6"], "6", False),
        ("Ge", ["6"], "6", True),
        ("Lt", ["10"], "9", True),
        ("Le", ["9"], "10", False),
        ("GtLt", ["1", "3"], "2", True),
        ("GeLe", ["2", "2"], "2", True),
        ("IsTrue", [], "true", True),
        ("IsTrue", [], "yes", False),
        ("IsFalse", [], "false", True),
    ],
)
def test_operators(op: str, operands: list[str], value: str | None, expected: bool) -> None:
    assert expression_matches({"op": op, "value": operands}, value) is expected


def test_versions_are_compared_as_versions() -> None:
    assert expression_matches({"op": "Ge", "type": "version", "value": ["6.8"]}, "6.14.0-1010-azure")


@pytest.mark.parametrize("expression", [{"op": "Near"}, {"op": "Gt", "value": []}, {"op": "GtLt", "value": ["1"]}])
def test_an_expression_that_nfd_refuses_is_an_error(expression: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="operator"):
        expression_matches(expression, "1")


def test_one_device_must_satisfy_all_expressions() -> None:
    expected = {"vendor": ["15b3"], "device": ["101c", "101e"], "class": ["0207"]}
    both = pci(**{key: {"op": "In", "value": values} for key, values in expected.items()})
    assert labels_of_rules([rule(matchFeatures=both)], FEATURES) == {f"{NFD}/found": "yes"}
    ethernet_only = features_of(SYSTEM, NODE_INFO, "node-1")
    assert labels_of_rules([rule(matchFeatures=both)], ethernet_only) == {}
    gpu_of_mellanox = pci(vendor={"op": "In", "value": ["15b3"]}, device={"op": "In", "value": ["2330"]})
    assert labels_of_rules([rule(matchFeatures=gpu_of_mellanox)], FEATURES) == {}


def test_alternatives_and_requirements_must_both_hold() -> None:
    nvidia = {"matchFeatures": pci(vendor={"op": "In", "value": ["10de"]})}
    amd = {"matchFeatures": pci(vendor={"op": "In", "value": ["1002"]})}
    kernel = [{"feature": "kernel.version", "matchExpressions": {"major": {"op": "Gt", "value": ["5"]}}}]
    old = [{"feature": "kernel.version", "matchExpressions": {"major": {"op": "Lt", "value": ["6"]}}}]
    assert labels_of_rules([rule(matchAny=[amd, nvidia], matchFeatures=kernel)], FEATURES)
    assert not labels_of_rules([rule(matchAny=[amd])], FEATURES)
    assert not labels_of_rules([rule(matchAny=[nvidia], matchFeatures=old)], FEATURES)


def test_names_can_be_matched() -> None:
    loaded = [{"feature": "kernel.loadedmodule", "matchName": {"op": "InRegexp", "value": ["^mlx5_"]}}]
    assert labels_of_rules([rule(matchFeatures=loaded)], FEATURES)
    flag = [{"feature": "kernel.loadedmodule", "matchExpressions": {"nvidia": {"op": "DoesNotExist"}}}]
    assert labels_of_rules([rule(matchFeatures=flag)], FEATURES)


def test_a_later_rule_sees_what_earlier_ones_found() -> None:
    first = rule("a", labels={"hca": "yes"}, vars={"generation": "NDR"})
    matched = {"hca": {"op": "In", "value": ["yes"]}, "generation": {"op": "In", "value": ["NDR"]}}
    second = rule("b", matchFeatures=[{"feature": "rule.matched", "matchExpressions": matched}])
    assert f"{NFD}/found" in labels_of_rules([second, first], FEATURES)


def test_a_rule_on_a_feature_that_there_is_not_gives_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert labels_of_rules([rule(matchFeatures=[{"feature": "pci.devices"}])], FEATURES) == {}
    assert "feature 'pci.devices' is not available" in caplog.text


def test_label_namespaces_are_nfds() -> None:
    given = {"plain": "1", "nvidia.com/x": "2", f"{NFD}/y": "3", "kubernetes.io/z": "4", "node.kubernetes.io/w": "5"}
    assert labels_of_rules([rule(labels=given)], Features()) == {
        f"{NFD}/plain": "1",
        "nvidia.com/x": "2",
        f"{NFD}/y": "3",
    }


def test_a_label_may_take_a_features_value() -> None:
    labels = labels_of_rules([rule(labels={"kernel": "@kernel.version.major"})], FEATURES)
    assert labels == {f"{NFD}/kernel": "6"}


def test_the_worker_labels_what_its_configuration_asks_for() -> None:
    config = "sources: {pci: {deviceClassWhitelist: ['0300', '0302'], deviceLabelFields: [vendor]}}"
    labels = built_in_labels(FEATURES, config)
    assert labels[f"{NFD}/pci-10de.present"] == "true"
    assert f"{NFD}/pci-15b3.present" not in labels
    assert labels[f"{NFD}/system-os_release.ID"] == "ubuntu"
    assert labels[f"{NFD}/system-os_release.VERSION_ID"] == "24.04"
    assert labels[f"{NFD}/kernel-version.full"] == "6.8.0-1031-azure"


def test_the_workers_own_defaults_name_class_and_vendor() -> None:
    labels = built_in_labels(FEATURES, "")
    assert f"{NFD}/pci-0302_10de.present" in labels
    assert f"{NFD}/pci-10de.present" not in labels


def test_label_sources_can_be_switched_off() -> None:
    assert not any("pci-" in name for name in built_in_labels(FEATURES, "core: {labelSources: [all, -pci]}"))
    assert set(built_in_labels(FEATURES, "core: {labelSources: [memory]}")) == {f"{NFD}/memory-numa"}


def test_gpu_feature_discovery_describes_the_gpus() -> None:
    assert gpu_labels(H100)["nvidia.com/gpu.count"] == "8"
    assert gpu_labels(SYSTEM) == {}
