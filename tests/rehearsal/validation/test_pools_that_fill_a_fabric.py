"""A pool as large as Azure makes them, validated as a whole, its pods as real processes.

A fabric takes 100 machines, unless a support request has raised the limit (MicrosoftDocs/azure-compute-docs,
setup-infiniband.md, read 2026-11-23).
"""

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

MACHINES = 100
HCAS = 8
"""Count on each machine."""
FACTS = pool_facts("large", H100, fabric="one")
BYTES_A_NODE = 2000
"""Size of a report's ConfigMap, whose limit is 1 MiB."""
LIMIT_SECONDS = 7200
"""Limit of every wait: a machine on which much else runs takes its time."""


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Validated]:
    """A cluster with the machines of the pool; their GPUs lack drivers, so RDMA alone is measured."""
    with ControlPlane.start(tmp_path / "run", speed=SPEED, parts=(*WITH_KWOK, "machines")) as running:
        client = Client(config=KubeConfig.from_file(running.kubeconfig), trust_env=False)
        program = {"nodes": MACHINES, "gpu_driver": "none", "poll": 5, "size": H100}
        cluster = Validated(running, client, tmp_path / "stacks", program)
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "network-operator"}})
        cluster.apply(*(node(FACTS, number, number) for number in range(MACHINES)), driver("large"))
        cluster.rdma_plugin("large", "15b3")
        yield cluster


@pytest.mark.long
@pytest.mark.timeout(LIMIT_SECONDS)
@pytest.mark.field_report("R3")
def test_a_pool_that_fills_a_fabric_is_validated_as_a_whole(large: Validated) -> None:
    began = time.monotonic()
    done = large.run("up", "large", timeout=LIMIT_SECONDS / 2)
    assert done.succeeded, done.said

    report = large.report("large")
    # So many machines on few cores have some measured twice, which is reported; nothing else may be.
    judged = [check for check in report["checks"] if check["check"] not in ("all-reduce", "GPUDirect")]  # of GPUs
    told = {str(check["cause"]) for check in judged if check["verdict"] != "pass"}
    assert all(cause.startswith("it took ") for cause in told), told
    assert report["coverage"]["summary"].startswith(
        f"{MACHINES} of {MACHINES} nodes, {HCAS * MACHINES} of {HCAS * MACHINES} HCAs"
    )
    assert set(report["nodes"]) == {node_name(FACTS, number) for number in range(MACHINES)}
    assert len(report["rdma"]) == MACHINES * HCAS * 5
    left = large.client.get(ConfigMap, "large-validation-report", namespace="large")
    length = sum(len(value) * 3 // 4 for value in (left.binaryData or {}).values())
    assert length < MACHINES * BYTES_A_NODE
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{time.monotonic() - began:.0f} s, largest process {used.ru_maxrss} KiB, report's ConfigMap {length:,} bytes"
    )
