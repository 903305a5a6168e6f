"""The whole validation of a pool with GPUs: what is wrong with the collective fails it, with node and cause."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband_cli.report.files import write

from rehearsal.machines.hardware.sysfs import write_files
from tests.rehearsal.validation.pods import Pods, failures
from tests.unit.validation.fake_api import FakeApi

_H100 = SIZES["Standard_ND96isr_H100_v5"]
assert _H100.accelerator is not None
SMALL = replace(
    _H100,
    name="Standard_ND24isr_H100_v5",
    infiniband=replace(_H100.infiniband, hca_count=2),
    accelerator=replace(_H100.accelerator, count=2),
    slots=replace(_H100.slots, hcas=_H100.slots.hcas[:2], gpus=_H100.slots.gpus[:2]),
)
"""A size without published figures: its limits are computed."""
POOL = Pool(
    name="nd",
    size=SMALL,
    node_count=2,
    node_selector={"agentpool": "nd"},
    mode="rdma-shared",
    nic_driver="doca-ofed",
    gpu_driver="operator",
)


@dataclass
class GpuPods(Pods):
    """Pods on machines with a GPU driver."""

    without_peermem: tuple[int, ...] = ()
    """The nodes on which nvidia-peermem is not loaded."""
    libraries: bool = True
    """True if the image has the GPU's libraries, simulated ones."""

    def prepare(self) -> None:
        super().prepare()
        if not self.libraries:
            (self.folder / "sitecustomize.py").touch()  # found before the one that brings them
        for rank in set(self.ranks) - set(self.without_peermem):
            write_files(self.folder / self.node(rank) / "sys", {"module/nvidia_peermem/version": "580.105.08"})


Make = Callable[..., GpuPods]


@pytest.fixture
def pods(tmp_path: Path) -> Iterator[Make]:
    """Makes the pods of the pool."""
    with FakeApi() as api:
        yield lambda *faults, **others: GpuPods(
            tmp_path, POOL, api, faults=list(faults), measure_seconds=60.0, **others
        )


def check_of(report: Any, name: str) -> Any:
    (check,) = [check for check in report["checks"] if check["check"] == name]
    return check


def test_a_sound_pool_passes_with_the_all_reduce_measured_both_ways_and_makes_a_page(pods: Make) -> None:
    made = pods()
    code, message, report = made.all()

    assert (code, report["verdict"]) == (0, "pass"), message
    assert [run["tuning"] for run in report["collective"]["runs"]] == ["ring", "nccl"]
    assert {run["transport"] for run in report["collective"]["runs"]} == {"InfiniBand with GPUDirect RDMA"}
    bandwidth = check_of(report, "all-reduce")
    assert (bandwidth["verdict"], bandwidth["unit"], bandwidth["threshold"]["basis"]) == ("pass", "GB/s", "computed")
    assert 90 < bandwidth["measured"] < 100
    assert report["collective"]["line_gb_per_s"] == 100.0
    assert check_of(report, "all-reduce-small")["verdict"] == "not judged"
    assert [path.name for path in write({"nd": report}, made.folder / "page")] == [
        "report.html",
        "nd-all-reduce.png",
        "nd-rdma-write-bandwidth.png",
        "nd-rdma-read-bandwidth.png",
        "nd-rdma-read-latency.png",
    ]


@pytest.mark.field_report("B3")
def test_a_node_without_peermem_fails_the_pool_and_the_cause_names_it(pods: Make) -> None:
    code, message, report = pods(without_peermem=(0, 1)).all()

    assert (code, report["verdict"]) == (1, "fail")
    assert ("collective-transport", "node-1", None) in failures(report)
    assert "nvidia-peermem is not loaded" in message
    assert "InfiniBand through host memory" in message


@pytest.mark.field_report("C1")
def test_nccl_on_sockets_fails_the_pool_though_every_rank_came_to_its_end(pods: Make) -> None:
    code, message, report = pods({"fault": "no-libibverbs"}).all()

    assert code == 1
    assert [run["failures"] for run in report["collective"]["runs"]] == [[], []]
    assert ("collective-transport", "node-0", None) in failures(report)
    assert "TCP sockets" in message
    assert len(check_of(report, "all-reduce")["tries"]) == 3


@pytest.mark.field_report("C1")
def test_one_node_on_sockets_is_named_where_the_ranks_cannot_connect(pods: Make) -> None:
    code, _, report = pods({"fault": "no-libibverbs", "node": "node-1"}).all()

    assert code == 1
    wrong = [
        (check["node"], check["measured"]) for check in report["checks"] if check["check"] == "collective-transport"
    ]
    assert ("node-1", "TCP sockets") in wrong


def test_an_image_without_nccl_is_no_pass_and_says_what_to_set(pods: Make) -> None:
    code, message, _ = pods(libraries=False).all()

    assert code == 1
    assert "the image lacks NCCL" in message
    assert "validation.image" in message


def test_a_node_8_percent_below_its_pool_that_passes_every_limit_is_named_by_its_pairs(tmp_path: Path) -> None:
    slow = {"fault": "slow", "node": "node-2", "factor": 0.92}
    with FakeApi() as api:
        three = GpuPods(tmp_path, POOL.changed(node_count=3), api, faults=[slow], measure_seconds=60.0)
        _, _, report = three.all()
    assert len(report["pairs"]) == 3
    found = [check for check in report["checks"] if check["check"] == "all-reduce-pairs"]
    assert [(check["verdict"], check["node"]) for check in found] == [("fail", "node-2")]
    assert [check["check"] for check in report["checks"] if check["verdict"] == "fail"] == ["all-reduce-pairs"]
