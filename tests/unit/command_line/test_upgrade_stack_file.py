"""The project's stack files during an upgrade: they say what Azure has, and nothing else in them changes."""

from pathlib import Path

import pytest
import yaml
from aks_infiniband_cli.machine_by_machine.upgrade.written import Versions, write

from rehearsal.tools.paths import PROJECT


@pytest.mark.parametrize("file", sorted(PROJECT.glob("Pulumi.*.yaml")), ids=lambda file: file.name)
def test_every_stack_file_of_ours_is_written_and_taken_back(file: Path, tmp_path: Path) -> None:
    text = file.read_text()
    config = yaml.safe_load(text)["config"]
    if not isinstance(config.get("aks-infiniband:cluster"), dict):
        return
    before = config["aks-infiniband:cluster"]["kubernetesVersion"]
    names = [pool["name"] for pool in config["aks-infiniband:pools"]]
    copied = tmp_path / file.name
    copied.write_text(text)
    assert write(copied, Versions(cluster="1.39", pools=dict.fromkeys(names, before)))
    assert not write(copied, Versions(cluster="1.39", pools=dict.fromkeys(names, before)))
    assert write(copied, Versions(cluster=before, pools=dict.fromkeys(names, before)))
    assert copied.read_text() == text
