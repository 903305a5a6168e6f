"""`aks-infiniband evidence` asks a simulated machine."""

from dataclasses import replace

from aks_infiniband_cli.bad_machines.evidence.reading_job import ask
from lightkube.resources.batch_v1 import Job

from tests.unit.command_line.validations import validation

from .conftest import Rehearsed
from .jobs import NODE


def test_a_machine_tells_its_host_its_id_and_its_adapters(cluster: Rehearsed) -> None:
    found = ask(cluster.client, NODE, replace(validation(), namespace=cluster.namespace))
    assert found["physical_host_name"].startswith("GGBB")
    assert found["metadata"]["vmSize"] == "Standard_ND96isr_H100_v5"
    assert found["metadata"]["vmId"]
    assert len(found["hcas"]) == 8
    assert {hca["state"] for hca in found["hcas"]} == {"4: ACTIVE"}
    assert all(hca["firmware"] for hca in found["hcas"])
    cluster.eventually(lambda: not list(cluster.client.list(Job, namespace=cluster.namespace)))
