"""Containers that see GPUs without a request, on machines whose driver Azure has installed: before, and after."""

from collections.abc import Iterator
from typing import Any

import pytest
from aks_infiniband.hosts.toolkit_hardening import NAME, toolkit_hardening
from lightkube import codecs
from lightkube.resources.core_v1 import Node

from rehearsal.azure.machines import node, node_name
from tests.rehearsal.simulated_nodes import H100, pool_facts
from tests.some_pools import pool

from .conftest import Rehearsed
from .jobs import output, python

COUNT = "import pathlib, sys; print(len(list(pathlib.Path(sys.argv[1]).glob('nvidia[0-9]*'))))"
ALL = [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]


@pytest.fixture
def azures(cluster: Rehearsed) -> Iterator[str]:
    """A machine with Azure's GPU driver and container toolkit."""
    facts = pool_facts(f"az{cluster.namespace[:8]}", H100, fabric="of-azures-driver", gpu_driver="Install")
    name = node_name(facts, 0)
    cluster.client.create(codecs.from_dict(node(facts, 0, 8)))
    cluster.pool = facts.pool["name"]
    yield name
    cluster.clear()
    cluster.client.delete(Node, name)


def gpus_seen(cluster: Rehearsed, on: str, name: str, **container: Any) -> int:
    """The number of GPUs that a container of a Job finds."""
    cluster.job(name, python(COUNT, "/dev", env=ALL, **container), nodeSelector={"kubernetes.io/hostname": on})

    def ended() -> list[dict[str, Any]]:
        found = cluster.pods(**{"batch.kubernetes.io/job-name": name})
        return [pod for pod in found if pod["status"]["phase"] == "Succeeded"]

    (pod,) = cluster.eventually(ended)
    return int(output(cluster, pod))


@pytest.mark.field_report("A11")
def test_a_pod_that_asked_for_no_gpu_sees_every_one_before_and_none_after(cluster: Rehearsed, azures: str) -> None:
    assert gpus_seen(cluster, azures, "before") == 8
    program = toolkit_hardening([pool(name=cluster.pool, gpu_driver="aks")])
    described = {"name": NAME, "labels": program.labels}
    cluster.create({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": described, "spec": program.spec()})
    labels = {"app.kubernetes.io/name": NAME}
    cluster.eventually(lambda: [pod["status"]["phase"] for pod in cluster.pods(**labels)] == ["Running"])
    assert gpus_seen(cluster, azures, "after") == 0
    administrator = {"securityContext": {"capabilities": {"add": ["SYS_ADMIN"]}}}
    assert gpus_seen(cluster, azures, "administrator", **administrator) == 8, "as an exporter of GPU metrics has"
