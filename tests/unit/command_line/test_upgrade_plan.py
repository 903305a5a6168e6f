"""`aks-infiniband upgrade` before it begins: the order of its steps, what it refuses, and what it says will break."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband.facts.releases import DEFAULT_RELEASE
from aks_infiniband_cli.azure.cluster import ClusterThere, PoolThere
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.main import main
from aks_infiniband_cli.upgrade import plan, run
from aks_infiniband_cli.upgrade.breaks import blocking, breaks
from aks_infiniband_cli.upgrade.plan import Target

AFTER = ["1.35.9", "1.36.3"]


def pool(name: str, version: str = "1.35.8", **changes: Any) -> PoolThere:
    made = PoolThere(
        name=name,
        system=False,
        version=version,
        asked=version.rpartition(".")[0],
        image="AKSUbuntu-2404gen2containerd-202610.27.0",
        count=2,
        state="Succeeded",
        os_sku="Ubuntu",
        surges=False,
        at_once="1",
    )
    return replace(made, **changes)


def cluster(*pools: PoolThere, version: str = "1.35.8") -> ClusterThere:
    system = pool("system", version, system=True, surges=True, at_once="0")
    return ClusterThere(
        version=version,
        asked=version.rpartition(".")[0],
        location="southcentralus",
        state="Succeeded",
        pools={each.name: each for each in (*pools, system)},
    )


def node(name: str, version: str = "1.35.8", image: str = "old", **labels: str) -> dict[str, Any]:
    own = {"kubernetes.azure.com/node-image-version": image, **labels}
    return {
        "metadata": {"name": name, "labels": own},
        "spec": {},
        "status": {"nodeInfo": {"kubeletVersion": f"v{version}"}},
    }


def steps(there: ClusterThere, wanted: str, nodes: dict[str, Any], measured: Sequence[str]) -> list[plan.Step]:
    targets = dict.fromkeys(there.pools, Target(kubernetes=wanted))
    return [*plan.control_plane(there, wanted, AFTER), *plan.pools(there, targets, nodes, measured)]


def test_the_control_plane_goes_first_then_the_system_pool_then_what_is_measured_then_the_rest() -> None:
    there = cluster(pool("web"), pool("nd"), pool("hb"))
    nodes = {name: [node(f"{name}-0"), node(f"{name}-1")] for name in ("web", "nd", "hb", "system")}
    found = steps(there, "1.36", nodes, ["hb", "nd"])
    assert [(step.kind, step.name, step.machines) for step in found] == [
        ("control plane", "southcentralus", 0),
        ("pool", "system", 2),
        ("measured pool", "hb", 2),
        ("measured pool", "nd", 2),
        ("pool", "web", 2),
    ]
    assert [step.minutes for step in found] == [10, 20, 60, 60, 20]


def test_what_an_earlier_command_has_done_is_not_done_again() -> None:
    there = cluster(pool("nd", "1.36.3", state="Canceled"), pool("web", "1.36.3"), version="1.36.3")
    nodes = {"nd": [node("a", "1.36.3"), node("b")], "web": [node("c", "1.36.3")], "system": [node("d", "1.36.3")]}
    assert [(step.name, step.machines) for step in steps(there, "1.36", nodes, ["nd"])] == [("nd", 1)]


def test_nothing_is_left_where_everything_has_the_version() -> None:
    there = cluster(pool("nd"))
    assert steps(there, "1.35", {"nd": [node("a")]}, ["nd"]) == []


def test_a_node_image_changes_pools_alone() -> None:
    there = cluster(pool("nd", image="old"))
    found = list(plan.pools(there, {"nd": Target(image="new")}, {"nd": [node("a"), node("b", image="new")]}, ["nd"]))
    assert [(step.kind, step.before, step.target.image, step.machines) for step in found] == [
        ("measured pool", "old", "new", 1)
    ]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("1.37", r"AKS does not upgrade a control plane from 1.35.8 to 1.37.*Azure offers 1.35.9, 1.36.3"),
        ("1.34", r"the control plane has 1.35.8, and AKS takes none back to 1.34"),
        ("1.36.9", r"Azure offers 1.35.9, 1.36.3"),
    ],
)
def test_a_version_that_aks_does_not_let_follow_is_refused(wanted: str, words: str) -> None:
    with pytest.raises(CommandError, match=words):
        steps(cluster(), wanted, {}, [])


@pytest.mark.parametrize("changes", [{"surges": True}, {"at_once": "2"}])
def test_a_pool_that_aks_does_not_upgrade_one_machine_after_the_other_is_refused(changes: dict[str, Any]) -> None:
    there = cluster(pool("nd", **changes))
    found = steps(there, "1.36", {"nd": [node("a"), node("b")]}, ["nd"])
    with pytest.raises(CommandError, match="pool nd one machine after the other: its maxSurge must be 0"):
        plan.refuse_many_at_once(there, found)


def test_what_breaks_names_the_system_containerd_the_operators_and_what_a_reimage_loses() -> None:
    there = cluster(pool("nd", "1.34.2"), version="1.34.2")
    nodes = {"nd": [node("a", "1.34.2"), node("b", "1.34.2")], "system": [node("c", "1.34.2")]}
    targets = dict.fromkeys(there.pools, Target(kubernetes="1.35"))
    found = [*plan.control_plane(there, "1.35", ["1.35.8"]), *plan.pools(there, targets, nodes, ["nd"])]
    said = "\n".join(breaks(there, found, DEFAULT_RELEASE))
    assert "AKS takes no version back" in said
    assert "pool nd: Ubuntu is 24.04 with containerd 2 then" in said
    assert "pool system: its pods move, both operators' controllers" in said
    assert "OFED and GPU driver are built for the kernel of the new image" in said


def test_operators_that_do_not_name_the_version_are_said() -> None:
    there = cluster(version="1.36.3")
    (step,) = plan.control_plane(there, "1.39", ["1.39.0"])
    said = list(breaks(there, [step], DEFAULT_RELEASE))
    assert any("NVIDIA has not tested them with 1.39" in line for line in said)


@pytest.mark.parametrize("flag", ["--stop", "--release", "--back"])
def test_a_dry_run_of_what_has_no_plan_is_refused_and_does_nothing(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["upgrade", "-s", "dev", flag, "--dry-run"]) == 2
    assert "--dry-run shows the plan of --to or --node-image" in capsys.readouterr().err


def test_a_budget_that_lets_no_pod_go_is_named_with_a_pod() -> None:
    budget = {
        "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}},
        "status": {"disruptionsAllowed": 0},
    }
    held = {"metadata": {"name": "db-0", "namespace": "shop", "labels": {"app": "db"}}, "spec": {"nodeName": "a"}}
    elsewhere = {**held, "spec": {"nodeName": "z"}}
    (said,) = blocking([budget], [elsewhere, held], [node("a")])
    assert said.startswith("budget shop/db lets no pod go now, and db-0 is on a machine that is drained")
    assert list(blocking([budget], [elsewhere], [node("a")])) == []
    assert list(blocking([{**budget, "status": {"disruptionsAllowed": 1}}], [held], [node("a")])) == []


@pytest.mark.parametrize("as_text", [False, True], ids=["YAML", "JSON text"])
def test_cluster_and_pools_take_the_version_in_each_form_that_the_loader_takes(as_text: bool) -> None:
    given: dict[str, Any] = {
        "aks-infiniband:cluster": {"kubernetesVersion": "1.35"},
        "aks-infiniband:pools": [{"name": "nd", "kubernetesVersion": "1.35"}],
    }
    configuration = {key: json.dumps(value) if as_text else value for key, value in given.items()}
    found = run._with(configuration, "1.36")
    assert found["aks-infiniband:cluster"] == {"kubernetesVersion": "1.36"}
    assert found["aks-infiniband:pools"] == [{"name": "nd"}]


@pytest.mark.parametrize("seconds", ["nan", "-1", "inf", "0", "soon", "86401"])
def test_a_time_out_that_is_none_is_refused(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["upgrade", "--node-image", "--ready-timeout", seconds])
    assert "must be a number of seconds above 0, at most a day" in capsys.readouterr().err
