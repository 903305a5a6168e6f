"""What docs/workloads.md tells people to run makes what the page says it makes."""

import io
import json
import sys
from typing import Any

import pytest
import yaml
from aks_infiniband import load
from aks_infiniband.rdma_cluster import describe_pool
from aks_infiniband.workload import config_map_name, pod_template_fragment

from tests.snippets import DOCS, snippets


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page's program prints for the outputs of the stack `dev`."""
    settings = load(yaml.safe_load((DOCS.parent / "Pulumi.dev.yaml").read_text())["config"])
    output = {
        pool.name: {
            "nodeCount": pool.node_count,
            "podTemplate": pod_template_fragment(pool, config_map=config_map_name(pool.name)),
        }
        for pool in map(describe_pool, settings.pools)
    }
    (program,) = snippets("workloads.md", "python")
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(output)))
    monkeypatch.setattr(sys, "stdout", out)
    exec(compile(program, "docs/workloads.md", "exec"), {})  # the page's own program
    result: dict[str, Any] = json.loads(out.getvalue())
    return result


def test_the_pages_program_makes_the_pods_that_the_page_shows(printed: Any) -> None:
    _, job = printed["items"]
    (shown,) = snippets("workloads.md", "yaml")
    assert job["spec"]["template"] == yaml.safe_load(shown)


def test_the_pages_job_puts_one_pod_on_each_machine_and_its_service_finds_them(printed: Any) -> None:
    service, job = printed["items"]
    assert (job["spec"]["completionMode"], job["spec"]["completions"], job["spec"]["parallelism"]) == ("Indexed", 2, 2)
    assert job["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
