import json
from pathlib import Path
from typing import Any

import pytest

from rehearsal.machines.hardware.inventory import Inventory
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.nodes.feature_discovery import features_of
from rehearsal.machines.nodes.feature_rules import labels_of_rules
from rehearsal.run.sizes import describe_sizes

H100 = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")


def node(**annotations: str) -> dict[str, Any]:
    return {"metadata": {"name": "node-0", "annotations": annotations}}


def machine_node(**facts: str) -> dict[str, Any]:
    return node(**{"rehearsal.aks-infiniband/machine": json.dumps(facts)})


def test_a_node_without_or_with_a_broken_annotation_is_no_machine(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert Inventory(tmp_path).machine(node()) is None
    assert Inventory(tmp_path).machine(machine_node()) is None
    assert "rehearsal.aks-infiniband/machine" in caplog.text


def test_a_rule_on_a_feature_that_does_not_exist_gives_nothing_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    rules = [{"name": "rule", "labels": {"a": "b"}, "matchFeatures": [{"feature": "pci.devices"}]}]
    assert labels_of_rules([{"metadata": {"name": "rule"}, "spec": {"rules": rules}}], features_of(H100, {}, "n")) == {}
    assert "feature 'pci.devices' is not available" in caplog.text


def test_a_size_that_a_stack_file_describes_is_known_as_soon_as_it_is_described(tmp_path: Path) -> None:
    inventory, described = Inventory(tmp_path), machine_node(size="Standard_ND200", fabric="one")
    before = inventory.machine(described)
    assert before is not None
    assert before.hardware.hcas == ()
    infiniband = {"hcaCount": 2, "generation": "NDR", "adapter": "ConnectX-7"}
    accelerator = {"vendor": "nvidia", "model": "R100", "count": 2, "memoryGb": 288}
    size = {"series": "ND200", "vcpus": 8, "memoryGib": 64, "infiniband": infiniband, "accelerator": accelerator}
    describe_sizes(tmp_path, {"Standard_ND200": size})
    after = inventory.machine(described)
    assert after is not None
    assert (len(after.hardware.hcas), len(after.hardware.gpus)) == (2, 2)
