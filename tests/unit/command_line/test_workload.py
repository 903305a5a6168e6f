"""`aks-infiniband workload`: what pods of a pool need, from the stack file alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.resources.registry import PULL_SECRET
from aks_infiniband_cli.main import main

from rehearsal.tools.paths import PROJECT


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert main(["workload", *words, "--folder", str(PROJECT)]) == code
    shown = capsys.readouterr()
    return shown.err if code else shown.out


def test_it_prints_what_a_program_that_makes_jobs_reads(capsys: pytest.CaptureFixture[str]) -> None:
    found: dict[str, Any] = json.loads(printed(capsys, "--stack", "mixed"))
    assert list(found) == ["ndh100", "hbv3"], "pools with InfiniBand"
    assert found["ndh100"]["nodeCount"] == 2
    limits = found["ndh100"]["podTemplate"]["spec"]["containers"][0]["resources"]["limits"]
    assert limits["nvidia.com/gpu"] == "8"
    assert json.loads(printed(capsys, "hbv3", "--stack", "mixed")) == {"hbv3": found["hbv3"]}
    document = json.loads(printed(capsys, "--stack", "mixed", "--output", "json"))
    assert (document["schema_version"], document["pools"]) == (1, found)


def test_a_stack_file_may_hold_the_encrypted_login_of_its_registry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `pulumi config set --secret` writes it."""
    stack = yaml.safe_load((PROJECT / "Pulumi.dev.yaml").read_text())
    stack["config"] |= {
        "aks-infiniband:registry": {"images": "mirror.example.com/aks"},
        "aks-infiniband:registryCredentials": {"secure": "v1:GsnP9m/ssnS2jtCL:GVBJgGdlS"},
        "aks-infiniband:workload": {"registryCredentials": True},
    }
    (tmp_path / "Pulumi.dev.yaml").write_text(yaml.safe_dump(stack))
    assert main(["workload", "--stack", "dev", "--folder", str(tmp_path)]) == 0
    template = json.loads(capsys.readouterr().out)["ndh100"]["podTemplate"]
    assert template["spec"]["imagePullSecrets"] == [{"name": PULL_SECRET}]


def test_the_sample_is_a_list_that_kubectl_applies(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "hbv4", "--sample", "--stack", "hbv4"))
    assert (found["apiVersion"], found["kind"]) == ("v1", "List")
    assert found["items"][-1]["metadata"]["name"] == "sample-hbv4"
