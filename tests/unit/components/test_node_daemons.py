"""The programs on the machines themselves: node preparation and the loader of nvidia-peermem."""

from importlib import resources
from typing import Any

import pytest
from aks_infiniband.hosts.node_preparation import NodePreparation, NodePreparationArgs
from aks_infiniband.hosts.peermem import PeermemLoader, PeermemLoaderArgs
from aks_infiniband.hosts.toolkit_hardening import ToolkitHardening, ToolkitHardeningArgs

from declared.pulumi_mocks import Deploy
from tests.some_pools import pool

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("lift_memlock.sh", "LimitMEMLOCK=infinity"),
        ("load_peermem.sh", "modprobe nvidia-peermem"),
        ("harden_toolkit.sh", "--set accept-nvidia-visible-devices-envvar-when-unprivileged=false"),
        ("prepare_once.sh", "ns=/host/proc/1/ns\nuntil nsenter --mount=$ns/mnt "),
    ],
)
def test_a_script_does_what_its_program_is_for(script: str, words: str) -> None:
    text = (resources.files("aks_infiniband.hosts") / script).read_text()
    assert words in text
    assert "as-volume-mounts=true" not in text, "a mount would do what the variable did"


@pytest.mark.parametrize(
    ("component", "args", "name"),
    [
        (NodePreparation, NodePreparationArgs, "node-preparation"),
        (PeermemLoader, PeermemLoaderArgs, "nvidia-peermem"),
        (ToolkitHardening, ToolkitHardeningArgs, "nvidia-toolkit-hardening"),
    ],
)
def test_each_is_a_daemon_set_in_the_given_namespace_that_is_waited_for_and_explained(
    deploy: Deploy, component: Any, args: Any, name: Any
) -> None:
    def program() -> Any:
        return component("daemon", args=args(pools=[pool()], namespace="apps", timeout_seconds=90)).urn

    daemon_set = deploy(program).one(DAEMON_SET)
    metadata = daemon_set.inputs["metadata"]
    assert (metadata["name"], metadata["namespace"]) == (name, "apps")
    assert metadata["annotations"]["pulumi.com/timeoutSeconds"] == "90"
    labels = daemon_set.inputs["spec"]["template"]["metadata"]["labels"]
    assert labels["app.kubernetes.io/name"] == name
    assert daemon_set.inputs["spec"]["selector"]["matchLabels"].items() <= labels.items()
    assert len(daemon_set.request["hooks"]["onError"]) == 1
