"""Silent nodes, which AKS's auto-repair reboots or reimages: their losses, and the parts that come back."""

from typing import Any

import pytest
from lightkube.resources.core_v1 import Event

from .conftest import Rehearsed

OFED = {"nvidia.com/ofed-driver": ""}
PREPARED = {"app.kubernetes.io/name": "node-preparation"}
LIFTS = [{"name": "prepare", "image": "registry.invalid/prepare", "args": ["modprobe ib_umad; LimitMEMLOCK=infinity"]}]


def ready(cluster: Rehearsed, node: str) -> str:
    conditions = cluster.node(node)["status"]["conditions"]
    return next(str(entry["status"]) for entry in conditions if entry["type"] == "Ready")


def reasons(cluster: Rehearsed, node: str) -> list[str]:
    fields: dict[str, Any] = {"source": "aks-auto-repair", "involvedObject.name": node}
    found = cluster.client.list(Event, namespace="default", fields=fields)
    return [str(event.reason) for event in sorted(found, key=lambda event: str(event.firstTimestamp))]


def driver(cluster: Rehearsed) -> dict[str, Any]:
    return next(iter(cluster.pods(**OFED)), {})


def serves(cluster: Rehearsed) -> bool:
    statuses = driver(cluster).get("status", {}).get("containerStatuses") or [{}]
    return all(status.get("ready") for status in statuses)


def pulls(cluster: Rehearsed, node: str) -> int:
    found = cluster.client.list(Event, namespace=cluster.namespace, fields={"reason": "Pulled"})
    return sum(1 for event in found if event.source and event.source.host == node)


def test_a_silent_node_is_not_ready_for_as_long_as_the_fault_is_there_and_its_containers_go_on(
    cluster: Rehearsed, own_machine: str
) -> None:
    cluster.daemon_set("mofed", OFED)
    cluster.eventually(lambda: serves(cluster))
    cluster.fault("node-not-ready", node=own_machine)
    cluster.eventually(lambda: ready(cluster, own_machine) == "Unknown")
    assert serves(cluster), "nobody says otherwise of its containers, so an operator takes the driver for ready"
    cluster.mend()
    cluster.eventually(lambda: ready(cluster, own_machine) == "True")
    assert driver(cluster)["status"]["containerStatuses"][0]["restartCount"] == 0
    assert reasons(cluster, own_machine) == []


def test_a_rebooted_node_has_lost_what_was_loaded_and_its_pods_install_it_again(
    cluster: Rehearsed, own_machine: str
) -> None:
    cluster.daemon_set("prepare", PREPARED, containers=LIFTS)
    cluster.daemon_set("mofed", OFED)
    cluster.eventually(lambda: serves(cluster))
    boot, pulled = cluster.node(own_machine)["status"]["nodeInfo"]["bootID"], pulls(cluster, own_machine)
    cluster.fault("node-rebooted", node=own_machine)
    cluster.eventually(lambda: ready(cluster, own_machine) == "Unknown")
    cluster.eventually(lambda: not serves(cluster))
    cluster.eventually(lambda: serves(cluster))
    assert cluster.node(own_machine)["status"]["nodeInfo"]["bootID"] != boot
    assert driver(cluster)["status"]["containerStatuses"][0]["restartCount"] == 1
    assert driver(cluster)["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"] == 255
    assert reasons(cluster, own_machine) == ["NodeRebootStart", "NodeRebootEnd"]
    assert pulls(cluster, own_machine) == pulled, "a reboot leaves the images there"


@pytest.mark.long
def test_a_reimaged_node_has_lost_images_and_the_changes_of_its_disk_too(cluster: Rehearsed, own_machine: str) -> None:
    cluster.daemon_set("prepare", PREPARED, containers=LIFTS)
    cluster.daemon_set("mofed", OFED)
    cluster.eventually(lambda: serves(cluster))
    pulled = pulls(cluster, own_machine)
    cluster.fault("node-reimaged", node=own_machine)
    cluster.eventually(lambda: not serves(cluster))
    cluster.eventually(lambda: serves(cluster))
    assert reasons(cluster, own_machine)[-1] == "NodeReimageEnd"
    assert "NodeRebootEnd" in reasons(cluster, own_machine), "a reboot is tried first"
    assert pulls(cluster, own_machine) > pulled


@pytest.mark.parametrize("repair", ["node-rebooted", pytest.param("node-reimaged", marks=pytest.mark.long)])
def test_a_job_that_ran_when_its_machine_was_repaired_has_failed(
    cluster: Rehearsed, own_machine: str, repair: str
) -> None:
    cluster.job(
        "measures",
        {"command": ["python3", "-c", "import time; time.sleep(600)"]},
        nodeSelector={"kubernetes.io/hostname": own_machine},
    )
    cluster.eventually(lambda: cluster.pods() and cluster.pods()[0].get("status", {}).get("phase") == "Running")
    cluster.fault(repair, node=own_machine)
    cluster.eventually(lambda: cluster.pods()[0]["status"]["phase"] == "Failed", seconds=40)
