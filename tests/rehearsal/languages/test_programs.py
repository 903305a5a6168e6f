"""Programs in YAML and TypeScript, on the real engine: the same machines, validated as from Python."""

from typing import Any

import pytest

from rehearsal.control_plane import RunFolder
from rehearsal.tools.paths import PROJECT

from .conftest import Open

pytestmark = [pytest.mark.long, pytest.mark.timeout(1500)]  # the first run builds a host

CHARTS = PROJECT / "rehearsal" / "charts"


@pytest.mark.parametrize(("example", "language"), [("yaml", "yaml"), ("typescript", "nodejs")])
def test_a_whole_cluster_comes_up_validated_stays_as_it_is_and_goes(program: Open, example: str, language: str) -> None:
    with program(example, "hpc", language) as made:
        up = made.run("up")
        assert up.succeeded, up.said
        outputs = made.engine.outputs()
        assert outputs["pools"]["hbv4"]["validation"]["verdict"] == "pass"
        assert "apiVersion" not in str(outputs["kubeconfig"]), "a secret stays one"
        again = made.run("up")
        assert again.succeeded, again.said
        assert again.changed == {}
        destroyed = made.run("destroy")
        assert destroyed.succeeded, destroyed.said


def existing_cluster(run: RunFolder) -> dict[str, Any]:
    """The machines of the data centre, and where the program finds cluster and charts."""
    pool = {"name": "h100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "nodeSelector": {"machines": "h100"}}
    return {
        "aks-infiniband:existingCluster": {"kubeconfig": "~/.kube/config"},
        "aks-infiniband:pools": [pool],
        "components-yaml:kubeconfig": str(run.kubeconfig),
        "components-yaml:networkOperatorChart": str(CHARTS / "network-operator"),
        "components-yaml:gpuOperatorChart": str(CHARTS / "gpu-operator"),
    }


def test_single_components_serve_a_cluster_that_is_there_already(program: Open) -> None:
    with program("yaml-components", "lab", "yaml", existing_cluster) as made:
        up = made.run("up")
        assert up.succeeded, up.said
        outputs = made.engine.outputs()
        assert outputs["validation"]["verdict"] == "pass"
        assert outputs["configMaps"] == {"h100": "workload-h100"}
        again = made.run("up")
        assert again.changed == {}
        assert made.run("destroy").succeeded
