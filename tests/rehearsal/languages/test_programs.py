"""Programs in YAML and TypeScript, on the real engine: the same machines, validated as from Python."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.engine.languages.hosts import Language
from rehearsal.tools.paths import PROJECT

from .conftest import Open

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]  # the first run builds a host

CHARTS = PROJECT / "rehearsal" / "charts"


@pytest.mark.parametrize(("example", "language"), [("yaml", "yaml"), ("typescript", "nodejs")])
def test_a_whole_cluster_comes_up_validated_stays_as_it_is_and_goes(
    program: Open, example: str, language: Language
) -> None:
    made = program(example, "hpc", language)
    up = made.up()
    assert up.succeeded, up.said
    outputs = made.outputs()
    assert outputs["pools"]["hbv4"]["validation"]["verdict"] == "pass"
    assert "apiVersion" not in str(outputs["kubeconfig"]), "a secret stays one"
    again = made.up()
    assert again.succeeded, again.said
    assert again.changed == {}
    destroyed = made.destroy()
    assert destroyed.succeeded, destroyed.said


def existing_cluster(kubeconfig: Path) -> dict[str, Any]:
    """The machines of the data centre, and the program's paths to cluster and charts."""
    pool = {"name": "h100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "nodeSelector": {"machines": "h100"}}
    return {
        "aks-infiniband:existingCluster": {"kubeconfig": "~/.kube/config"},
        "aks-infiniband:pools": [pool],
        "components-yaml:kubeconfig": str(kubeconfig),
        "components-yaml:networkOperatorChart": str(CHARTS / "network-operator"),
        "components-yaml:gpuOperatorChart": str(CHARTS / "gpu-operator"),
    }


def test_single_components_serve_a_cluster_that_is_there_already(program: Open) -> None:
    made = program("yaml-components", "lab", "yaml")
    document = yaml.safe_load(made.file.read_text())
    document["config"] |= existing_cluster(made.rehearsal.run.kubeconfig)
    made.file.write_text(yaml.safe_dump(document))
    up = made.run("up", "--parallel", "1")  # the look for objects of others takes no place of the engine
    assert up.succeeded, up.said
    outputs = made.outputs()
    assert outputs["validation"]["verdict"] == "pass"
    assert outputs["configMaps"] == {"h100": "workload-h100"}
    again = made.up()
    assert again.changed == {}
    assert made.destroy().succeeded
