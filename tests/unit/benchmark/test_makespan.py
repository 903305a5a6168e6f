"""The least that a deployment can take, and the page about it."""

from dataclasses import asdict, replace
from typing import Any

import pytest
import yaml
from aks_infiniband_cli.report.timeline import clock

from benchmark.makespan.benchmark_page import DOCUMENT, Row, timed_file, with_least
from benchmark.makespan.bound import Bound, lower_bound
from benchmark.makespan.deployments import STACKS, Case
from benchmark.makespan.machines import MachineModel, gpu_pods, network_pods, seconds
from benchmark.makespan.timing import Timing
from rehearsal.run.images import pull_seconds

OFED = {"ofedDriver": {"repository": "nvcr.io/nvidia/mellanox", "image": "doca-driver", "version": "any"}}
AZURE = ("cluster", "infinibandPool")


def least(case: Case) -> float:
    return max(span.end for span in lower_bound(case))


def bound(*resources: tuple[str, list[str]], first: bool = False) -> dict[str, tuple[float, float]]:
    """Begin and end of each resource, given as type and name with what it depends on."""
    declared: dict[str, dict[str, Any]] = {
        label: {"dependencies": others, "inputs": {"vmSize": "Standard_HB120rs_v3"}} for label, others in resources
    }
    return {span.urn: (span.start, span.end) for span in Bound(resources=declared, first=first).spans()}


def test_a_resource_is_made_when_the_last_one_is_there_that_it_depends_on() -> None:
    group, cluster, feature, pool = (
        f"azure-native:x:{kind}::rdma"
        for kind in ("ResourceGroup", "ManagedCluster", "DeploymentAtSubscriptionScope", "AgentPool")
    )
    declared = [(group, []), (cluster, [group]), (feature, []), (pool, [cluster, feature])]
    later, first = bound(*declared), bound(*declared, first=True)
    assert later[cluster] == (seconds("resource"), seconds("resource") + seconds("cluster"))
    assert later[pool][0] == later[cluster][1]
    assert first[pool][0] == first[feature][1] == seconds("resource") + seconds("featureRegistration")
    assert first[pool][1] == first[pool][0] + seconds("infinibandPool")


@pytest.mark.parametrize("stack", STACKS)
def test_the_first_deployment_waits_for_the_feature_beside_the_cluster_and_not_after_it(stack: str) -> None:
    later, first = (least(Case(stack=stack, first=first)) for first in (False, True))
    assert 0 < first - later < seconds("featureRegistration")
    assert later > sum(seconds(step) for step in (*AZURE, "ofedDriver"))


def test_with_nvidia_peermem_a_stack_with_gpus_takes_longer_by_their_driver_and_its_images() -> None:
    by_peermem = least(Case(stack="dev", first=False, peermem=True))
    assert by_peermem - least(Case(stack="ipoib", first=False)) > seconds("gpuDriver")


def test_the_gpu_driver_waits_for_ofed_only_with_nvidia_peermem() -> None:
    ofed = network_pods(OFED)
    values = {"driver": {"repository": "nvcr.io/nvidia", "image": "driver"}}
    ready = {}
    for rdma in (True, False):
        driver, *_ = gpu_pods({**values, "driver": {**values["driver"], "rdma": {"enabled": rdma}}})
        model = MachineModel(pods=[(pod, 0.0) for pod in (*ofed, driver)])
        ready[rdma] = model.ready([driver])
    assert ready[True] > model.ready(ofed)
    assert ready[False] < seconds("ofedDriver") + seconds("gpuDriver")


@pytest.mark.parametrize("first", [True, False])
def test_by_dma_buf_a_gpu_driver_beside_ofed_delays_no_deployment(first: bool) -> None:
    case = Case(stack="dev", first=first)
    by_dma_buf, by_peermem, inbox = map(least, (case, replace(case, peermem=True), replace(case, inbox=True)))
    assert by_peermem - by_dma_buf > 120
    assert by_dma_buf - inbox < seconds("ofedDriver")


def test_pods_share_an_image_that_one_of_them_asks_for_first() -> None:
    def pod(image: str, *init: str) -> dict[str, Any]:
        containers = [{"name": "main", "image": image}]
        spec = {"initContainers": [{"name": name, "image": name} for name in init], "containers": containers}
        return {"metadata": {"labels": {}}, "spec": spec}

    first, second = pod("nvidia/pytorch"), pod("nvidia/pytorch", "nvidia/driver")
    together = MachineModel(pods=[(first, 0.0), (second, 0.0)]).ready([first, second])
    assert together == pytest.approx(pull_seconds("nvidia/pytorch") + seconds("containerStart"))


def test_a_validation_awaits_gpus_itself_where_their_operator_was_ready_before_there_was_a_machine() -> None:
    spans = lower_bound(Case(stack="dev", first=False, peermem=True))
    took = {span.name.split()[0]: span.seconds for span in spans}
    assert took["ClusterPolicyPatch"] == seconds("operatorRequeue")
    assert took["Job"] > seconds("gpuDriver")


@pytest.mark.parametrize("pulled", [True, False])
def test_a_validation_waits_for_its_image_unless_it_was_pulled_while_drivers_were_installed(pulled: Any) -> None:
    pool, release, policy, pull, job = (
        f"x:{kind}::network-operator" for kind in ("AgentPool", "Release", "NicClusterPolicy", "DaemonSet", "Job")
    )
    container = {"name": "any", "image": "nvidia/pytorch"}
    pod = {"metadata": {"labels": {}}, "spec": {"initContainers": [container], "containers": [container]}}
    given: dict[str, tuple[list[str], dict[str, Any]]] = {
        pool: ([], {"vmSize": "Standard_HB120rs_v3"}),
        release: ([], {"chart": "network-operator", "values": {}}),
        policy: ([release, pool], {"spec": OFED}),
        job: ([policy], {"spec": {"template": pod}}),
    }
    if pulled:
        labels = {"app.kubernetes.io/component": "images"}
        given[pull] = ([], {"metadata": {"labels": labels}, "spec": {"template": pod}})
    declared = {label: {"dependencies": others, "inputs": inputs} for label, (others, inputs) in given.items()}
    [took] = [span.seconds for span in Bound(resources=declared, first=False).spans() if span.urn == job]
    wait = 0 if pulled else pull_seconds("nvidia/pytorch")
    assert took == pytest.approx(wait + 2 * seconds("containerStart"))


def test_our_order_beats_the_guides_where_the_feature_is_to_be_registered_and_the_page_says_by_how_much() -> None:
    first = Case(stack="dev", first=True)
    ours, guides = least(first), least(replace(first, guides=True))
    assert guides > 1.1 * ours
    row = f"| dev | first | {clock(ours)} | {clock(guides)} | {guides / ours:.2f} |"
    assert row in DOCUMENT.read_text(), "`make bench REPETITIONS=0` computes the page's tables anew"


def test_the_page_has_both_times_and_their_ratio() -> None:
    page = with_least(
        "before\n<!-- least -->\nold\n<!-- end least -->\nafter", [Row(stack="dev | first", ours=600, guides=900)]
    )
    assert "\n| dev | first | 0:10:00 | 0:15:00 | 1.50 |\n" in page
    assert "old" not in page
    assert page.startswith("before")
    assert page.endswith("after")


def test_the_file_has_medians_of_what_was_timed_and_says_where() -> None:
    case = Case(stack="ipoib", first=False)
    simulated = least(case) - 60
    timings = [
        Timing(case=timed, simulated_s=factor * simulated, measuring_s=40, engine_s=engine, chain=[])
        for timed, factor in ((case, 1), (replace(case, guides=True), 2))
        for engine in (20, 500, 0)
    ]
    results = {
        "timings": [asdict(timing) for timing in timings],
        **{"processor": "any", "threads": 2, "python": "3.12", "load": 1.5, "speed": 4, "parallel": 3},
    }
    found = yaml.safe_load(timed_file(results))
    assert found["machine"] == {"processor": "any", "threads": 2, "python": "3.12", "load": 1.5}
    assert (found["speed"], found["parallel"], found["repetitions"]) == (4, 3, 3)
    [row] = found["deployments"]
    assert (row["stack"], row["deployment"]) == ("ipoib", "later"), "the others were not timed"
    assert (row["seconds"], row["over_least"]) == (round(least(case)), 1.0)
    assert row["guides_seconds"] == round(2 * simulated + 60)


def test_the_guides_order_takes_longer_for_pools_with_and_without_infiniband() -> None:
    assert least(Case(stack="mixed", first=True, guides=True)) > least(Case(stack="mixed", first=True))
