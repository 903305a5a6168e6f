"""A machine that is there is restarted and deleted, by requests of Azure's real clients."""

import json
from pathlib import Path

import pytest
from aks_infiniband_cli.azure.errors import words_of
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError

from rehearsal.azure import asked_operations
from rehearsal.azure.node_parts import BOOT_ANNOTATION
from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure, pool_inputs
from tests.simulator.unit.azure.people import clients, logged_in
from tests.simulator.unit.azure.pools import POOL, machines
from tests.unit.field_recordings.shapes import body


def test_aks_refuses_in_the_shape_that_was_recorded_and_the_gateway_in_its_own(
    azure: Azure, cluster: Properties, tmp_path: Path
) -> None:
    place = (cluster["__inputs"]["resourceGroupName"], cluster["name"], "system")
    with logged_in(azure, tmp_path):
        pools = clients().aks.agent_pools
        with pytest.raises(HttpResponseError) as refused:
            pools.begin_delete_machines(*place, {"machineNames": ["aks-other"]})
        with pytest.raises(ResourceNotFoundError) as missing:
            pools.get(place[0], "none", "system")
    assert words_of(refused.value) == "InvalidParameter: Machines aks-other are not in agent pool system."
    for error, recorded in ((refused, "aks-cluster-refused"), (missing, "aks-cluster-not-found")):
        assert error.value.response
        assert set(json.loads(error.value.response.text())) == set(body(recorded))


def test_a_simulator_that_is_started_again_carries_on_with_a_restart(azure: Azure, cluster: Properties) -> None:
    pool = azure.create(POOL, "nd", **pool_inputs(cluster))
    record = azure.cloud.store.get(pool["id"])
    assert record
    restart = {"action": "restart", "instance": 0, "started": 0.0, "status": "InProgress", "fault": None}
    record.details["asked"] = {"a": restart}
    asked_operations.resume(azure.cloud)
    while asked_operations.operation(azure.cloud, "a")["status"] == "InProgress":
        azure.cloud.clock.pause(0.01)
    assert asked_operations.operation(azure.cloud, "a")["status"] == "Succeeded"
    assert json.loads(machines(azure, "nd")[0]["metadata"]["annotations"][BOOT_ANNOTATION])["number"] == 1
