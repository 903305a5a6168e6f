"""A stack in a cluster that others made: its nodes are there before the engine runs, its secrets are secret.

The API server alone is started by hand: the program makes no object, so the other parts would only take time.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from lightkube import Client, KubeConfig
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node

from rehearsal.control_plane import CONTROL_PLANE_ONLY, ControlPlane, RunFolder
from rehearsal.run.sizes import known_sizes
from rehearsal.session import Rehearsal
from tests.rehearsal.engine_runs import run

PROGRAM: Final = '''\
"""Shows what it was given."""

import pulumi

config = pulumi.Config("aks-infiniband")
pulumi.export("credentials", config.get_secret("registryCredentials"))
pulumi.export("readable", config.get("registryCredentials") is not None)
pulumi.export("cluster", config.require_object("existingCluster"))
'''
CONFIG: Final[dict[str, Any]] = {
    "aks-infiniband:existingCluster": {"kubeconfig": "~/.kube/config", "systemNodeSelector": {"role": "infra"}},
    "aks-infiniband:registryCredentials": {"secure": "v1:nobody:can=="},
    "aks-infiniband:sizes": {
        "Standard_ND8isr_X_v9": {
            "vcpus": 8,
            "memoryGib": 64,
            "series": "ND_X",
            "infiniband": {"hcaCount": 2, "generation": "NDR", "adapter": "ConnectX-7"},
        }
    },
    "aks-infiniband:pools": [
        {"name": "hb", "vmSize": "Standard_HB120rs_v3", "count": 2, "nodeSelector": {"pool": "hb"}},
        {"name": "nd", "vmSize": "Standard_ND8isr_X_v9", "count": 1, "nodeSelector": {"pool": "nd"}},
    ],
}


@pytest.fixture
def rehearsal(tmp_path: Path) -> Iterator[Rehearsal]:
    project = tmp_path / "project"
    project.mkdir()
    (project / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "existing", "runtime": "python"}))
    (project / "__main__.py").write_text(PROGRAM)
    run_folder = RunFolder.at(tmp_path / "run")
    with ControlPlane.start(run_folder.root, speed=100, parts=CONTROL_PLANE_ONLY):
        yield Rehearsal(project=project, stack="theirs", run=run_folder, speed=100)


def write(rehearsal: Rehearsal, **changes: Any) -> None:
    config = {**CONFIG, **{f"aks-infiniband:{key}": value for key, value in changes.items()}}
    (rehearsal.project / "Pulumi.theirs.yaml").write_text(yaml.safe_dump({"config": config}))


def nodes(rehearsal: Rehearsal) -> dict[str, str]:
    """UID of each node, by name."""
    client = Client(config=KubeConfig.from_file(str(rehearsal.run.kubeconfig)), trust_env=False)
    return {str(node.metadata.name): str(node.metadata.uid) for node in client.list(Node) if node.metadata}


def test_the_stack_finds_its_nodes_and_its_secrets(rehearsal: Rehearsal) -> None:
    write(rehearsal)
    engine = rehearsal.engine()
    first = nodes(rehearsal)
    assert set(first) == {"system-0", "system-1", "hb-0", "hb-1", "nd-0"}
    assert known_sizes(rehearsal.run.root)["Standard_ND8isr_X_v9"].infiniband.hca_count == 2
    written = yaml.safe_load(engine.stack_file.read_text())["config"]
    assert set(written["aks-infiniband:registryCredentials"]) == {"secure"}
    assert run(engine, "up").succeeded
    outputs = engine.outputs()
    assert outputs["credentials"] == "[secret]"
    assert outputs["cluster"]["kubeconfig"] == str(rehearsal.run.kubeconfig)
    shown = json.loads(engine.output_of(["stack", "output", "--json", "--show-secrets", "--stack", "theirs"]))
    assert list(json.loads(shown["credentials"])) == ["auths"], "a docker config that a Secret takes"

    rehearsal.engine()
    assert nodes(rehearsal) == first, "what is right stays"

    client = Client(config=KubeConfig.from_file(str(rehearsal.run.kubeconfig)), trust_env=False)
    client.create(Node(metadata=ObjectMeta(name="not-ours")))
    changed = [CONFIG["aks-infiniband:pools"][0] | {"taints": ["sku=hpc:NoSchedule"], "count": 1}]
    write(rehearsal, pools=changed)
    rehearsal.engine()
    after = nodes(rehearsal)
    assert set(after) == {"system-0", "system-1", "hb-0", "not-ours"}
    assert (after["system-0"] == first["system-0"], after["hb-0"] == first["hb-0"]) == (True, False)
