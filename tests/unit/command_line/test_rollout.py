"""`aks-infiniband rollout`: one node gets another driver, and the others follow if it is as fast."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.console import SCHEMA_VERSION
from aks_infiniband_cli.machine_by_machine.rollout import gate
from aks_infiniband_cli.machine_by_machine.rollout.command import answer_of
from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS
from aks_infiniband_cli.machine_by_machine.rollout.hold import MARK, held

from tests.unit.command_line.cases.rolled_out import FALLEN, NEW, OLD, Cluster, command, daemon_set, driver_pod
from tests.unit.command_line.logged_in import ROOT
from tests.unit.command_line.validations import found_in, node


@pytest.mark.parametrize("driver", DRIVERS)
def test_back_waits_for_the_old_driver_on_the_first_node_and_drains_no_other(driver: str) -> None:
    """A pool of another operating system has another driver's image for good: it is not waited for."""
    cluster = Cluster(node("a"), node("b"), node("elsewhere"), driver=driver)
    cluster.drivers["elsewhere"] = (f"{OLD}-of-another-system", "template-9")
    command(cluster, (), FALLEN)
    looks = []

    def pods() -> Any:
        looks.append(cluster.held())
        if len(looks) == 2:
            del cluster.drivers["a"]  # deleted, and not there again
        if len(looks) > 2:
            cluster.drivers["a"] = (OLD, "template-1")
        return [driver_pod(cluster.driver, name, *has) for name, has in cluster.drivers.items()]

    cluster.pods = pods  # type: ignore[method-assign]
    code, document, _ = command(cluster, ["--back"], None)
    assert (code, document["released"]) == (0, ["b", "elsewhere"])
    assert looks == [{"b", "elsewhere"}] * 3, "they were held for as long as the first node had the new driver"
    state = cluster.driver.state
    assert state not in cluster.nodes["b"]["metadata"]["labels"], "the operator looks anew whether it needs a driver"


def test_another_operator_is_measured_where_it_changes_the_drivers_pod_and_says_what_it_changed_elsewhere() -> None:
    """The same driver, and another driver manager in its pod; the device plugin is replaced on every node."""
    cluster = Cluster(node("a"), node("b"), driver="gpu")
    cluster.new = (OLD, "template-2")
    cluster.daemon_sets_later = [daemon_set("driver", 2, "OnDelete"), daemon_set("device-plugin", 2)]
    _, found, _ = command(cluster, (), FALLEN)
    assert (found["driver"]["before"], found["driver"]["now"]) == (OLD, OLD)
    assert (found["not_held"], found["held"]) == (["device-plugin"], ["b"])


def test_where_the_stack_has_installed_the_operator_no_other_namespace_counts() -> None:
    nic = DRIVERS["nic"]
    own, forged = driver_pod(nic, "a", OLD, "1"), driver_pod(nic, "a", NEW, "2")
    own["metadata"]["namespace"], forged["metadata"]["namespace"] = "network-operator", "team"
    assert nic.own_pods([own, forged], None, {"network-operator", "team"}) == [own]
    assert nic.own_pods([forged], None, {"team"}) == [forged], "the operator of somebody else, wherever it is"
    assert nic.own_pods([forged], None, {"network-operator"}) == [], "a tenant's, with the label of the driver"
    assert nic.own_pods([own, forged], "team") == [forged]
    assert nic.own_pods([], None) == []


def test_marks_of_an_older_release_which_do_not_name_the_operator_s_namespace_are_read() -> None:
    old, new = node("a"), node("b")
    old["metadata"]["annotations"] = {MARK: "nic first"}
    new["metadata"]["annotations"] = {MARK: "gpu first an-operator"}
    found = [(each.driver.name, each.first, each.namespace) for each in held([old, new, node("c")])]
    assert found == [("nic", "first", None), ("gpu", "first", "an-operator")]


@pytest.mark.parametrize(
    ("driver", "updated"),
    [
        ("nic", {"aks-infiniband:index:NicClusterPolicy", "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"}),
        ("gpu", {"kubernetes:helm.sh/v3:Release"}),
    ],
)
def test_the_update_that_it_asks_for_is_of_what_holds_the_version_alone(driver: str, updated: set[str]) -> None:
    """In a target, two stars stand for anything (Pulumi, "pulumi up", --target)."""
    (target,) = re.findall("--target '(.*)'", DRIVERS[driver].update)
    pattern = re.compile(re.escape(target).replace(r"\*\*", ".*").replace(r"\*", "[^:]*"))
    declared = (ROOT / "tests" / "recordings" / "declared" / "sriov.yaml").read_text(encoding="utf-8")
    urns = [line.removeprefix("- urn: ") for line in declared.splitlines() if line.startswith("- urn: ")]
    assert {re.split(r"\$|::", urn)[-2] for urn in urns if pattern.fullmatch(urn)} == updated


def test_the_transcript_of_the_page_is_what_the_command_prints() -> None:
    """The document is that of a rehearsal, without what no text shows."""
    said = json.loads(Path(__file__).with_name("validated.json").read_text(encoding="utf-8"))["rollout"]
    (pool,) = found_in({"pools": said["pools"], "cordoned": {}, "uncordoned": {}}).pools
    rollout = gate.Rollout(
        driver=DRIVERS[said["driver"]["name"]],
        others=said["held"],
        pool=pool,
        **{key: said["driver"][key] for key in ("before", "now")},
        **{key: said[key] for key in ("first", "not_held", "shortfalls")},
    )
    answer = answer_of(rollout)
    assert {"schema_version": SCHEMA_VERSION, **answer.document} == said
    page = (ROOT / "docs" / "rollout.md").read_text(encoding="utf-8")
    assert f"/kubeconfig\n{answer.text}\n" in page
