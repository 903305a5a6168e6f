"""The stack file during an upgrade: it says what Azure has, and nothing else in it changes."""

from pathlib import Path

import pytest
import yaml
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.upgrade.written import Versions, edited, write

from rehearsal.tools.paths import PROJECT

STACK = """\
config:
  azure-native:location: southcentralus  # near us
  aks-infiniband:cluster:
    kubernetesVersion: "1.35"  # until 2028
  aks-infiniband:pools:
    - name: nd
      vmSize: Standard_ND96isr_H100_v5
      # two of them
      count: 2
    - {name: web, vmSize: Standard_D8s_v5, count: 1, infiniband: false}
"""


def test_a_pool_that_is_behind_gets_a_key_and_loses_it_again_and_all_else_stays() -> None:
    under_way = edited(STACK, Versions(cluster="1.36", pools={"nd": "1.35", "web": "1.35"}))
    assert under_way == STACK.replace('kubernetesVersion: "1.35"', 'kubernetesVersion: "1.36"').replace(
        "    - name: nd\n", '    - kubernetesVersion: "1.35"\n      name: nd\n'
    ).replace("{name: web", '{kubernetesVersion: "1.35", name: web')
    done = edited(under_way, Versions(cluster="1.36", pools={"nd": "1.36", "web": "1.36"}))
    assert done == STACK.replace('"1.35"', '"1.36"')


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


def test_a_key_that_a_person_wrote_last_goes_with_its_line() -> None:
    given = STACK.replace("      count: 2\n", '      count: 2\n      kubernetesVersion: "1.34"\n')
    assert edited(given, Versions(cluster="1.35", pools={"nd": "1.35"})) == STACK


def test_a_file_that_is_written_otherwise_is_left_alone_and_the_words_to_write_are_told(tmp_path: Path) -> None:
    shared = STACK.replace("    - {name: web", "    - &web {name: web") + "    - *web\n"
    file = tmp_path / "Pulumi.x.yaml"
    file.write_text(shared)
    with pytest.raises(CommandError, match=r'Write kubernetesVersion: "1\.36" of aks-infiniband:cluster'):
        write(file, Versions(cluster="1.36", pools={"nd": "1.35", "web": "1.35"}))
    assert file.read_text() == shared
