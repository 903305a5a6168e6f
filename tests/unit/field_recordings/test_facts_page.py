"""docs/facts.md points at tables that are there, and names what they hold."""

import re
from pathlib import Path

import pytest
from aks_infiniband.facts.kubernetes import RELEASES
from aks_infiniband.facts.releases import GPU_OPERATOR_CHART, NETWORK_OPERATOR_CHART

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "facts.md").read_text()
ASSUMPTIONS = (ROOT / "docs" / "rehearsal.md").read_text().partition("## What it assumes")[2]
LISTED = {
    "a machine's placement group and scale set": "placement group's ID",
    "which OS SKUs an API version knows": "OS SKU Ubuntu2404",
    "that AKS makes no more clusters": "older AKSCapacityError",
    "when AKS knows of a feature": "AKS knows of a feature",
    "an OS disk for which nobody asked": "2,048 GiB",
    "what AKS does with a node that is NotReady": "outlives a reimage",
    "by what a node shows that AKS manages its adapters or GPUs": "managed DRANET",
    "how old the newest node image is that a new node gets": "three weeks old",
    "nvidia-peermem in the node image, beside AKS's driver": "an empty module",
    "kernel and containerd of today's node images": "Kernel, containerd",
    "patches of Kubernetes that are offered": "patches of Kubernetes",
    "HCAs of HC and HBv2": "HCAs of HC and HBv2",
    "what keeps pods off a node until it is measured": "prefix of startup taints",
    "what these conditions say": "announces a reboot in the words of a preemption",
    "CPUs of a NUMA node": "CPUs of a NUMA node",
    "a tool on another NUMA node than its HCA's": "another NUMA node than its HCA's",
    "what pods with addresses in 172.16.0.0/16 meet": "172.16.0.0/16",
    "where AKS's own checks of GPUs and InfiniBand run": "XIDErrors, NVLinkStatusInactive",
    "what AKS does not take of a pool": "does not take of a pool",
    "what AKS does with `If-Match`": "eTag is another one by now",
    "how AKS gives a pool another Kubernetes or node image": "stopped or aborted upgrade of AKS",
    "how a pool goes back": "can be rolled back",
    "a GPU driver's image on another Ubuntu than its own": "built for a newer Ubuntu",
    "PCI classes and IDs": "Ethernet adapter an ordinary size has",
    "what a node image of GB200 and GB300 may have": "one with drivers from a snapshot",
    "what the container toolkit reads of containerd 2": "containerd configured as on amd64",
    "interconnect groups": "asks for an interconnect group",
    "service level on GB200 and GB300": "service level",
    "rate of one HCA of GB200 and GB300": "800 Gb/s by Azure's page",
    "what a port could reach": "firmware 40 means",
    "RCCL and HIP are called as NCCL and CUDA": "RCCL and HIP",
    "tags of the images of AMD's operands": "tags of AMD's images",
    "what the image with RCCL holds": "image with RCCL",
    "names of the GPU vendors' libraries": "`librccl.so.1`",
    "what the CUDA runtime image weighs": "CUDA runtime image of 12.9.1",
    "which GPU drivers the CUDA runtime image takes": "asks for the same GPU drivers",
    "perftest on GPU memory, and `--use_cuda_dmabuf`": "package of perftest",
    "below which priority the cluster autoscaler makes no node for a pod": "`expendable-pods-priority-cutoff`",
}
"""Words of the rehearsal's list of assumptions, by the fact that says it is assumed."""
ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if re.match(r"\| (?!fact |---)", line)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_fact_has_a_value_a_home_and_a_source_or_is_assumed(row: list[str]) -> None:
    _, value, home, source = row
    assert value
    assert source
    for path in re.findall(r"`([^`]+)`", home):
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "components" / "aks_infiniband")), path
    for recording in re.findall(r"[\w-]+\.yaml", source.partition("recorded: ")[2]):
        assert (ROOT / "tests" / "field_recordings" / recording).is_file(), recording


@pytest.mark.field_report("R15")
def test_the_page_says_which_releases_of_the_operators_these_are_and_that_they_are_deprecated() -> None:
    (row,) = [row for row in ROWS if row[0] == "versions of charts and images"]
    assert NETWORK_OPERATOR_CHART.version in row[1]
    assert GPU_OPERATOR_CHART.version.removeprefix("v") in row[1]
    assert "deprecated since 26.7" in row[3]


def test_the_calendar_on_the_page_is_the_tables() -> None:
    (row,) = [row for row in ROWS if row[0].startswith("until when AKS makes")]
    for minor, month in re.findall(r"1\.(\d+): (\w+ \d{4})", row[1]):
        assert RELEASES[1, int(minor)].end.strftime("%B %Y") == month


def test_what_is_assumed_stands_in_the_rehearsals_list_of_assumptions() -> None:
    assert {row[0] for row in ROWS if "assumed" in f"{row[1]} {row[3]}"} == set(LISTED)
    assert [words for words in LISTED.values() if words not in " ".join(ASSUMPTIONS.split())] == []
