"""`aks-infiniband init`: answers become a decision with its reasons, and a stack file that the program takes."""

import json
import re
import sys
from io import StringIO
from itertools import combinations, product
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from aks_infiniband import SIZES, load
from aks_infiniband.facts.azure_names import pool_name_of
from aks_infiniband.facts.catalog.machine import GpuDriver
from aks_infiniband.operators.gpu_operator import is_gpu_pool
from aks_infiniband_cli.choose import command as command_room
from aks_infiniband_cli.choose.answers import Answers, Fabric, Workload
from aks_infiniband_cli.choose.decision import decide
from aks_infiniband_cli.choose.page import decision_lines, decision_table, document_of
from aks_infiniband_cli.choose.prices import price_command, price_of
from aks_infiniband_cli.choose.stack_file import KUBERNETES, stack_file
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.main import main
from rich.console import Console

ROOT = Path(__file__).parents[3]
H100, HBV4, A100 = "Standard_ND96isr_H100_v5", "Standard_HB176rs_v4", "Standard_ND96amsr_A100_v4"
MI300X = "Standard_ND96isr_MI300X_v5"


def test_every_figure_has_its_source() -> None:
    for reason in decide(Answers(workloads=("training",), gpus=32)).reasons:
        assert reason.source or not any(unit in reason.text for unit in ("GB/s", "Gb/s", "times slower")), reason.text


def written(answers: Answers) -> str:
    """The stack file of the default name, however dear its InfiniBand is."""
    return stack_file(decide(answers, with_infiniband=True), answers, stack="infiniband", project="aks-infiniband")


@pytest.mark.usefixtures("kubeconfig_at_home")
def test_every_stack_file_that_it_can_write_is_one_that_the_program_takes() -> None:
    drivers: tuple[GpuDriver | None, ...] = (None, *get_args(GpuDriver))
    texts: set[str] = set()
    workloads: list[tuple[Workload, ...]] = [(one,) for one in get_args(Workload)]
    workloads += combinations(get_args(Workload), 2)
    given = product(workloads, (None, *SIZES), (None, True, False), drivers, (True, False))
    for named, vm_size, verbs, driver, existing in given:
        answers = Answers(workloads=named, vm_size=vm_size, verbs=verbs, gpu_driver=driver, existing=existing)
        try:
            texts.add(written(answers))
        except CommandError:
            continue
    assert len(texts) > 200
    for text in texts:
        (pool,) = load(yaml.safe_load(text)["config"]).pools
        assert f"vmSize: {pool.size.name}" in text
        assert ("gpuDirect: auto" in text) is is_gpu_pool(pool), "no driver is there yet that would restart"


def test_only_other_networks_and_sizes_without_infiniband_have_no_stack_file() -> None:
    for fabric in get_args(Fabric):
        decision = decide(Answers(workloads=("training",), existing=True, fabric=fabric), with_infiniband=True)
        assert (decision.mode is None) == (fabric != "infiniband")


def test_new_clusters_have_the_kubernetes_version_of_the_projects_own_stacks() -> None:
    stack = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    assert stack["config"]["aks-infiniband:cluster"] == KUBERNETES


def test_pools_of_every_family_have_names_that_aks_takes() -> None:
    for size in SIZES.values():
        assert 1 <= len(pool_name_of(size.series)) <= 12


def test_the_price_is_that_of_all_machines_with_the_region_and_the_day_it_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--workload", "training", "--gpus", "32", "--folder", str(tmp_path), "--output", "json"]
    assert main(["init", *flags]) == 0
    price, read = json.loads(capsys.readouterr().out)["price"], price_of(H100)
    assert read is not None
    assert price["usd_per_hour"] == pytest.approx(4 * read.usd_per_hour)
    assert (price["region"], price["read"]) == ("eastus", read.read)
    assert price["ask"] == price_command(H100, "southcentralus")
    assert f"armSkuName eq '{H100}'" in price["ask"]


def test_only_sizes_that_nobody_has_seen_on_sale_have_no_price() -> None:
    unknown = {name for name in SIZES if price_of(name) is None}
    gb300 = {"Standard_ND128isr_GB300_v6", "Standard_ND128isrG5_GB300_v6"}
    assert unknown == {"Standard_ND96isrf_H200_v5", *gb300}
    assert price_of("Standard_HB120-16rs_v3") == price_of("Standard_HB120rs_v3")
    chosen = decide(Answers(workloads=("training",), vm_size="Standard_ND128isr_GB300_v6"))
    lines = decision_lines(document_of(chosen, region="eastus"))
    assert any("traffic: not known here. Today's" in line.plain for line in lines)


def test_on_a_terminal_it_asks_for_what_no_flag_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    said: dict[str, Any] = {"What will run? (several: with commas)": "mpi", "Region": "westeurope"}
    machines = iter([-3, 3])

    def ask(prompt: str, **more: Any) -> Any:
        asked.append(prompt)
        if prompt == "How many machines?":
            return next(machines)
        return said.get(prompt, more.get("default"))

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    for kind in ("Prompt", "IntPrompt", "Confirm"):
        monkeypatch.setattr(getattr(command_room, kind), "ask", ask)
    assert main(["init", "--size", HBV4, "--folder", str(tmp_path)]) == 0
    assert asked == [
        "What will run? (several: with commas)",
        "How many machines?",
        "How many machines?",
        "Do the programs use RDMA (verbs, NCCL, UCX)?",
        "Which cluster?",
        "Region",
    ]
    config = yaml.safe_load((tmp_path / "Pulumi.infiniband.yaml").read_text())["config"]
    assert config["azure-native:location"] == "westeurope"
    assert config["aks-infiniband:pools"] == [{"name": "hbv4", "vmSize": HBV4, "count": 3}]


def test_a_source_is_whole_on_a_narrow_terminal() -> None:
    output = StringIO()
    document = document_of(decide(Answers(workloads=("training",), gpus=32)), "eastus")
    Console(width=80, file=output).print(decision_table(document))
    assert "…" not in output.getvalue()


def test_the_transcripts_of_the_page_are_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Pulumi.yaml").write_text("name: aks-infiniband")
    page = (ROOT / "docs" / "init.md").read_text(encoding="utf-8")
    parts = re.findall(r"^\$ (aks-infiniband|cat) (.+)\n((?:(?!\$ |```).*\n)+)", page, flags=re.MULTILINE)
    assert [program for program, _, _ in parts] == ["aks-infiniband", "cat", "aks-infiniband"]
    for program, words, said in parts:
        if program == "cat":
            assert Path(words).read_text(encoding="utf-8").rstrip() == said.rstrip()
        else:
            main(words.split())
            assert capsys.readouterr().out.rstrip() == said.rstrip()
