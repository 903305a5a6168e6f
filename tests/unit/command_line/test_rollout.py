"""`aks-infiniband rollout`: one node gets another driver, and the others follow if it is as fast."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband_cli.console import SCHEMA_VERSION
from aks_infiniband_cli.machine_by_machine import measuring
from aks_infiniband_cli.machine_by_machine.rollout import command, gate
from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS
from aks_infiniband_cli.machine_by_machine.rollout.hold import MARK, held
from aks_infiniband_cli.main import main
from aks_infiniband_cli.validate.run import Measured
from lightkube.resources.core_v1 import Node

from tests.unit.command_line.logged_in import ROOT
from tests.unit.command_line.rollouts import NEW, OLD, Cluster, daemon_set, driver_pod
from tests.unit.command_line.validations import found_in, kubeconfig_in, node, pod, report, validation


def warned(check: str, device: str | None = None) -> dict[str, Any]:
    kept = {"node": None, "expected": None, "measured": None, "unit": None, "tries": None, "cause": "drivers differ"}
    return {"check": check, "verdict": "warn", "device": device, **kept}


MIXED = warned("versions")
"""The report's words while one node has another driver."""
FALLEN = (MIXED, warned("regression", "rdma-write-bandwidth"))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs the command on a cluster; what was measured is given."""

    def run(cluster: Cluster, *flags: str, code: int, measured: Any = None) -> dict[str, Any]:
        def measure(_: Any, runs: Any, __: Any) -> Any:
            (only,) = runs
            assert [item["metadata"]["name"] for item in only.awaited] == [only.nodes[0]["metadata"]["name"]]
            assert len(only.nodes) == 2
            return {"ndh100": Measured(report=measured)}

        def read(client: Any, _: str) -> Any:
            return {"ndh100": validation()}, [i.to_dict() for i in client.list(Node)], client.pods()

        monkeypatch.setattr(gate, "connected", lambda _: cluster)
        monkeypatch.setattr("aks_infiniband_cli.cluster.connected", lambda _: cluster)
        for module in (gate, measuring):
            monkeypatch.setattr(module, "read_cluster", read)
        monkeypatch.setattr(measuring, "measure", measure)
        monkeypatch.setattr("time.sleep", lambda _: None)
        where = ("--kubeconfig", str(kubeconfig_in(tmp_path)), "--output", "json")
        assert main(["rollout", *where, "--driver", cluster.driver.name, *flags]) == code
        said: dict[str, Any] = json.loads(capsys.readouterr().out or "{}")
        return said

    return run


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_driver_that_is_as_good_is_let_go_on_to_every_node(run: Any, driver: str) -> None:
    cluster = Cluster(node("a"), node("b"), node("c"), driver=driver)
    found = run(cluster, code=0, measured=report(393.0, MIXED))
    assert (found["accepted"], found["first"], found["released"]) == (True, "a", ["b", "c"])
    assert found["driver"] == {"name": driver, "before": OLD, "now": NEW}
    assert found["not_held"] == []
    assert cluster.held() == set()
    for item in cluster.nodes.values():
        assert not [label for label in item["metadata"]["labels"] if "driver-upgrade" in label]
        assert MARK not in item["metadata"].get("annotations", {})


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_figure_that_fell_stops_it_and_the_others_keep_their_driver(run: Any, driver: str) -> None:
    cluster = Cluster(node("a"), node("b"), node("c"), driver=driver)
    found = run(cluster, "--first", "b", code=1, measured=report(196.55, *FALLEN))
    assert (found["accepted"], found["held"]) == (False, ["a", "c"])
    assert found["shortfalls"] == ["rdma-write-bandwidth: 196.55 Gb/s, it was 393.1 (-50 %)"]
    assert cluster.held() == {"a", "c"}
    assert {name: image for name, (image, _) in cluster.drivers.items()} == {"a": OLD, "b": NEW, "c": OLD}
    assert run(cluster, code=2) == {}, "nobody begins another one now"
    assert run(cluster, "--release", code=0)["released"] == ["a", "c"]
    assert cluster.held() == set()


@pytest.mark.parametrize("driver", DRIVERS)
def test_back_waits_for_the_old_driver_on_the_first_node_and_drains_no_other(run: Any, driver: str) -> None:
    """A pool of another operating system has another driver's image for good: it is not waited for."""
    cluster = Cluster(node("a"), node("b"), node("elsewhere"), driver=driver)
    cluster.drivers["elsewhere"] = (f"{OLD}-of-another-system", "template-9")
    run(cluster, code=1, measured=report(196.55, *FALLEN))
    looks = []

    def pods() -> Any:
        looks.append(cluster.held())
        if len(looks) == 2:
            del cluster.drivers["a"]  # deleted, and not there again
        if len(looks) > 2:
            cluster.drivers["a"] = (OLD, "template-1")
        return [driver_pod(cluster.driver, name, *has) for name, has in cluster.drivers.items()]

    cluster.pods = pods  # type: ignore[method-assign]
    assert run(cluster, "--back", code=0)["released"] == ["b", "elsewhere"]
    assert looks == [{"b", "elsewhere"}] * 3, "they were held for as long as the first node had the new driver"
    state = cluster.driver.state
    assert state not in cluster.nodes["b"]["metadata"]["labels"], "the operator looks anew whether it needs a driver"


def test_where_no_node_is_held_nothing_is_waited_for(run: Any) -> None:
    assert run(Cluster(node("a")), "--back", code=0)["released"] == []


def test_a_node_with_a_mark_that_this_command_does_not_write_is_not_released(run: Any) -> None:
    stranger = node("a")
    stranger["metadata"]["annotations"] = {MARK: "another first"}
    assert run(Cluster(stranger), "--release", code=0)["released"] == []


def test_another_operator_is_measured_where_it_changes_the_drivers_pod_and_says_what_it_changed_elsewhere(
    run: Any,
) -> None:
    """The same driver, and another driver manager in its pod; the device plugin is replaced on every node."""
    cluster = Cluster(node("a"), node("b"), driver="gpu")
    cluster.new = (OLD, "template-2")
    cluster.daemon_sets_later = [daemon_set("driver", 2, "OnDelete"), daemon_set("device-plugin", 2)]
    found = run(cluster, code=1, measured=report(196.55, *FALLEN))
    assert (found["driver"]["before"], found["driver"]["now"]) == (OLD, OLD)
    assert (found["not_held"], found["held"]) == (["device-plugin"], ["b"])


def test_an_upgrade_that_fails_stops_it(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"), fails=True)
    found = run(cluster, code=1)
    assert "the upgrade of the driver has failed on node a" in found["shortfalls"][0]
    assert (found["held"], found["pools"]) == (["b"], {})


def test_nodes_that_are_taken_when_they_are_to_be_measured_stay_held(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"))
    cluster.later = [pod("nda100-validate", "b", rdma__shared_ib="1")]
    run(cluster, code=2)
    assert cluster.held() == {"b"}


def test_a_pod_that_looks_like_the_driver_is_not_taken_for_it(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"))
    forged = driver_pod(cluster.driver, "a", NEW, "template-2")
    forged["metadata"]["namespace"] = "team"
    cluster.others = cluster.later = [forged]
    said = run(cluster, code=0, measured=report(393.0))
    assert (said["released"], said["driver"]["before"]) == (["b"], OLD), "the tenant's pod blocks nothing"


def test_where_two_namespaces_have_what_a_policy_seems_to_have_made_a_person_says_which(run: Any) -> None:
    cluster = Cluster(node("a"), node("b"))
    forged, made = driver_pod(cluster.driver, "a", NEW, "template-2"), daemon_set("driver", 1)
    forged["metadata"]["namespace"] = made["metadata"]["namespace"] = "team"
    cluster.others = cluster.later = [forged]
    cluster.daemon_sets.append(made)
    assert run(cluster, code=2) == {}
    assert cluster.held() == set()
    said = run(cluster, "--operator-namespace", "an-operator", code=0, measured=report(393.0))
    assert (said["released"], said["driver"]["before"]) == (["b"], OLD)


def test_where_the_stack_has_installed_the_operator_no_other_namespace_counts() -> None:
    nic = DRIVERS["nic"]
    own, forged = driver_pod(nic, "a", OLD, "1"), driver_pod(nic, "a", NEW, "2")
    own["metadata"]["namespace"], forged["metadata"]["namespace"] = "network-operator", "team"
    assert nic.own_pods([own, forged], None, {"network-operator", "team"}) == [own]
    assert nic.own_pods([forged], None, {"team"}) == [forged], "the operator of somebody else, wherever it is"
    assert nic.own_pods([forged], None, {"network-operator"}) == [], "a tenant's, with the label of the driver"
    assert nic.own_pods([own, forged], "team") == [forged]
    assert nic.own_pods([], None) == []


def test_a_first_node_that_is_gone_is_not_waited_for(run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Cluster(node("a"), node("b"))
    run(cluster, code=1, measured=report(196.55, *FALLEN))
    del cluster.nodes["a"], cluster.drivers["a"]
    run(cluster, "--back", code=2)
    assert cluster.held() == {"b"}
    assert run(cluster, "--release", code=0)["released"] == ["b"]


def test_marks_of_an_older_release_which_do_not_name_the_operator_s_namespace_are_read() -> None:
    old, new = node("a"), node("b")
    old["metadata"]["annotations"] = {MARK: "nic first"}
    new["metadata"]["annotations"] = {MARK: "gpu first an-operator"}
    found = [(each.driver.name, each.first, each.namespace) for each in held([old, new, node("c")])]
    assert found == [("nic", "first", None), ("gpu", "first", "an-operator")]


def test_a_label_that_somebody_else_has_put_on_a_node_stays(run: Any) -> None:
    others = node("c")
    cluster = Cluster(node("a"), node("b"), others)
    others["metadata"]["labels"][cluster.driver.skip] = "true"
    assert run(cluster, code=0, measured=report(393.0))["released"] == ["b"]
    assert cluster.held() == {"c"}


@pytest.mark.parametrize("driver", DRIVERS)
def test_where_no_driver_rolls_out_by_itself_nothing_is_held(run: Any, driver: str) -> None:
    cluster = Cluster(node("a"), node("b"), driver=driver, automatic=False)
    run(cluster, code=2)
    assert cluster.held() == set()


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
        first=said["first"],
        before=said["driver"]["before"],
        now=said["driver"]["now"],
        others=said["held"],
        not_held=said["not_held"],
        shortfalls=said["shortfalls"],
        pool=pool,
    )
    answer = command.answer_of(rollout)
    assert {"schema_version": SCHEMA_VERSION, **answer.document} == said
    page = (ROOT / "docs" / "rollout.md").read_text(encoding="utf-8")
    assert f"/kubeconfig\n{answer.text}\n" in page
