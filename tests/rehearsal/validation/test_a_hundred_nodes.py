"""A pool as large as Azure makes them, validated as a whole: 100 machines with 8 HCAs, their pods as real processes."""

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lightkube import Client, KubeConfig
from lightkube.resources.core_v1 import ConfigMap

from rehearsal.azure.machines import node, node_name
from rehearsal.control_plane import WITH_KWOK, ControlPlane
from tests.rehearsal.simulated_nodes import H100, pool_facts
from tests.rehearsal.validation.conftest import SPEED, Validated, driver

NODES = 100
LIMIT_SECONDS = 7200
"""Limit of every wait: a machine on which much else runs takes its time."""
FACTS = pool_facts("large", H100, fabric="one")


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Validated]:
    """A cluster with the machines of the pool; nobody drives their GPUs, so RDMA alone is measured."""
    with ControlPlane.start(tmp_path / "run", speed=SPEED, parts=(*WITH_KWOK, "machines")) as running:
        client = Client(config=KubeConfig.from_file(running.kubeconfig), trust_env=False)
        program = {"nodes": NODES, "gpu_driver": "none", "poll": 5}
        cluster = Validated(running, client, tmp_path / "stacks", program)
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "network-operator"}})
        cluster.apply(*(node(FACTS, number, number) for number in range(NODES)), driver("large"))
        cluster.rdma_plugin("large", "15b3")
        yield cluster


@pytest.mark.long
@pytest.mark.timeout(LIMIT_SECONDS)
@pytest.mark.field_report("R3")
def test_a_hundred_machines_with_eight_hcas_each_are_validated_as_a_whole(large: Validated) -> None:
    began = time.monotonic()
    done = large.run("up", "large", timeout=LIMIT_SECONDS / 2)
    assert done.succeeded, done.said

    report = large.report("large")
    assert report["verdict"] == "pass"
    assert report["coverage"]["summary"].startswith("100 of 100 nodes, 800 of 800 HCAs")
    assert set(report["nodes"]) == {node_name(FACTS, number) for number in range(NODES)}
    assert len(report["rdma"]) == NODES * 8 * 5
    left = large.client.get(ConfigMap, "large-validation-report", namespace="large")
    size = sum(len(value) * 3 // 4 for value in (left.binaryData or {}).values())
    assert size < 200_000
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{time.monotonic() - began:.0f} s, largest process {used.ru_maxrss} KiB, report's ConfigMap {size:,} bytes")
