"""The commands of docs/workloads.md make the objects that the page describes."""

import io
import json
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

import pytest
import yaml
from aks_infiniband import SIZES, load
from aks_infiniband.facts.pool import Pool
from aks_infiniband.workload import jobs
from aks_infiniband.workload.environment import LIST_HCAS, Transport, nccl_environment
from aks_infiniband.workload.pods import pod_template_fragment
from aks_infiniband.workload.sample_job import sample_job
from aks_infiniband.workload.topology import nccl_topology

from tests.snippets import DOCS, snippets
from tests.some_pools import HBV4, pool

PAGE = (DOCS / "workloads.md").read_text()
TRANSPORTS: dict[str, Transport] = {"InfiniBand": "infiniband", "RoCE v2": "roce", "IPoIB": "ipoib", "TCP": "tcp"}


ROCE_PAGE = (DOCS / "roce.md").read_text()


def test_the_page_about_roce_has_what_the_library_sets_and_says_why_of_the_rest() -> None:
    rows = [
        [cell.strip(" `") for cell in row.strip("|\n").split("|")]
        for row in ROCE_PAGE.splitlines()
        if "| `NCCL_" in row
    ]
    said = {name: (infiniband, roce) for name, infiniband, roce, _ in rows}
    assert all(reason for *_, reason in rows)
    columns: tuple[Transport, ...] = ("infiniband", "roce")
    for place, transport in enumerate(columns):
        made = nccl_environment(transport)
        assert {name: each[place] for name, each in said.items() if each[place] != "–"} == made


def dev() -> Any:
    return yaml.safe_load((DOCS.parent / "Pulumi.dev.yaml").read_text())["config"]


Print = Callable[..., dict[str, Any]]


@pytest.fixture
def job(monkeypatch: pytest.MonkeyPatch) -> Print:
    """The output of the page's program for the outputs of some pools, with arguments."""

    def run(pools: Iterable[Pool], *arguments: str) -> dict[str, Any]:
        output = {of.name: {"nodeCount": of.node_count, "podTemplate": pod_template_fragment(of)} for of in pools}
        program, *_ = snippets("workloads.md", "python")
        out = io.StringIO()
        monkeypatch.setattr(sys, "argv", ["job.py", *arguments, "aks-infiniband"])
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(output)))
        monkeypatch.setattr(sys, "stdout", out)
        exec(compile(program, "docs/workloads.md", "exec"), {})  # the page's own program
        result: dict[str, Any] = json.loads(out.getvalue())
        return result

    return run


@pytest.fixture
def printed(job: Print) -> dict[str, Any]:
    """The output of the page's program for the outputs of the stack `dev`."""
    return job(load(dev()).pools, "ndh100")


def test_the_pages_program_takes_any_pool(job: Print) -> None:
    pools = [pool(), pool(HBV4, "hbv4"), pool("Standard_ND40rs_v2", "ndv2")]
    for of, processes in zip(pools, ("8", "1", "8"), strict=True):
        _, made = job(pools, of.name)["items"]
        (main,) = made["spec"]["template"]["spec"]["containers"]
        assert f"--nproc-per-node={processes}" in main["command"]
        assert made["spec"]["template"]["spec"]["nodeSelector"] == of.node_selector


def test_the_pages_program_names_the_pools_that_there_are(job: Print) -> None:
    with pytest.raises(SystemExit, match="there is no pool ndh100v5; the stack has ndh100, hbv4"):
        job([pool(), pool(HBV4, "hbv4")], "ndh100v5")


def test_the_pages_program_makes_the_pods_that_the_page_shows(printed: Any) -> None:
    _, job = printed["items"]
    shown, *_ = snippets("workloads.md", "yaml")
    assert job["spec"]["template"] == yaml.safe_load(shown)


def test_the_pages_job_puts_one_pod_on_each_machine_and_its_service_finds_them(printed: Any) -> None:
    service, job = printed["items"]
    assert (job["spec"]["completionMode"], job["spec"]["completions"], job["spec"]["parallelism"]) == ("Indexed", 2, 2)
    assert job["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}


def test_the_pages_commands_name_the_sample_of_the_stack() -> None:
    sample, *_ = snippets("workloads.md", "sh")
    (only,) = load(dev()).pools
    name = sample_job(only)["items"][-1]["metadata"]["name"]
    assert f"aks-infiniband workload {only.name} --sample " in sample
    assert f"job/{name} " in sample
    assert f"job-name={name} " in sample


def test_the_page_says_how_a_container_lists_its_infiniband_devices() -> None:
    assert any(LIST_HCAS in snippet for snippet in snippets("workloads.md", "sh"))


def test_the_pages_setting_for_further_namespaces_is_one() -> None:
    _, setting, restricted = snippets("workloads.md", "yaml")
    for given in (setting, restricted):
        stack = load({**dev(), **yaml.safe_load(given)["config"]})
        assert stack.namespaces == ("aks-infiniband", "training")
        assert stack.memlock is (given == restricted)


@pytest.mark.parametrize(("heading", "transport"), TRANSPORTS.items())
def test_the_pages_table_of_variables_is_what_they_are(heading: str, transport: Transport) -> None:
    (row,) = re.findall(rf"^\| {heading} \| `(\w+)` \| (.+) \|$", PAGE, flags=re.MULTILINE)
    network, rest = row
    shown = dict(pair.split("=") for pair in re.findall(r"`([^`]+)`", rest))
    assert {"NCCL_NET": network, **shown} == nccl_environment(transport)


def test_the_pages_program_prints_the_variables_for_roce(capsys: pytest.CaptureFixture[str]) -> None:
    *_, program = snippets("workloads.md", "python")
    exec(compile(program, "docs/workloads.md", "exec"), {})  # the page's own program
    assert "NCCL_IB_GID_INDEX=3" in capsys.readouterr().out.splitlines()


def test_the_page_names_every_size_that_has_a_topology() -> None:
    (named,) = re.findall(r"made from what Azure publishes of the size \(([^)]+)\)", " ".join(PAGE.split()))
    known = {name.removeprefix("Standard_") for name, size in SIZES.items() if nccl_topology(size)}
    assert set(named.split(", ")) == known


@pytest.mark.parametrize("mode", ["rdma-shared", "sriov", "ipoib", "dra", "driver-only"])
def test_the_pages_table_of_modes_tells_what_the_template_asks_for(mode: Any) -> None:
    (row,) = re.findall(rf"^\| `{mode}` \| (.+)$", PAGE, flags=re.MULTILINE)
    fragment = pod_template_fragment(pool(mode=mode))
    (main,) = fragment["spec"]["containers"]
    asked = set(main["resources"]["limits"]) - {"nvidia.com/gpu"}
    assert {name.partition(":")[0] for name in re.findall(r"`(rdma/\w+: \w)`", row)} == asked
    assert ("`IPC_LOCK`" in row) is ("capabilities" in main["securityContext"])


def test_the_pages_second_program_makes_a_job_that_is_checked_before_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, program, _ = snippets("workloads.md", "python")
    of = pool()
    pools = {"ndh100": {"nodeCount": of.node_count, "podTemplate": pod_template_fragment(of)}}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(pools)))
    exec(compile(program, "docs/workloads.md", "exec"), {})  # the page's own program
    service, made = json.loads(capsys.readouterr().out)["items"]
    (check,) = made["spec"]["template"]["spec"]["initContainers"]
    assert (service["kind"], check["name"]) == ("Service", "require-infiniband")


def test_the_page_has_a_row_for_every_way_to_run_a_job() -> None:
    table = PAGE.partition("| function | makes |")[2].partition("\n\n")[0]
    ways = {name for name, made in vars(jobs).items() if getattr(made, "__module__", "") == jobs.__name__}
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == {name for name in ways if not name.startswith("_")}
