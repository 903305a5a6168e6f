"""`aks-infiniband preflight`: whether the registries have what the nodes pull, for what the nodes are."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband.facts.versions import NCCL_IMAGE
from aks_infiniband_cli.preflight import registry
from aks_infiniband_cli.preflight.images import images_of
from aks_infiniband_cli.stack_file import configuration_of, stack_of

from tests.unit.command_line.arm import Arm
from tests.unit.command_line.logged_in import ROOT
from tests.unit.command_line.preflight_stacks import Checked, stack

DECLARED = ROOT / "tests" / "recordings" / "declared"
CUDA = f"image {NCCL_IMAGE}"
OFED = "nvidia/mellanox/doca-driver:doca3.4.1-26.04-1.1.0.0-1"
GB300 = "Standard_ND128isr_GB300_v6"


def recorded(value: Any) -> Iterator[str]:
    """Every image that a recording names: of containers, and of NVIDIA's custom resources."""
    if isinstance(value, list):
        for item in value:
            yield from recorded(item)
    elif isinstance(value, dict):
        if value.keys() >= {"repository", "image", "version"}:
            yield f"{value['repository']}/{value['image']}:{value['version']}"
        elif isinstance(value.get("image"), str) and "name" in value:
            yield value["image"]
        for item in value.values():
            yield from recorded(item)


@pytest.mark.parametrize("file", sorted(ROOT.glob("Pulumi.*.yaml")), ids=lambda file: file.name)
@pytest.mark.usefixtures("kubeconfig_at_home")
def test_every_image_that_a_stack_declares_is_asked_for(file: Path) -> None:
    asked = images_of(stack_of(file, configuration_of(file)))
    known = {image.reference for image in asked} - {None}
    unknown = {image.name for image in asked if image.reference is None}
    declared = yaml.load((DECLARED / file.name.removeprefix("Pulumi.")).read_text(), Loader=yaml.CSafeLoader)
    for image in recorded(declared["resources"]):
        ofed = f"{image}-ubuntu24.04-amd64"
        assert {image, ofed} & known or image.rsplit("/", 1)[-1].partition(":")[0] in unknown, image


def test_with_a_mirror_the_mirror_is_asked(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    _, lines = checked(*stack(tmp_path, **{"aks-infiniband:registry": {"images": "mirror.example.com/ib"}}))
    assert lines["image mirror.example.com/ib/nvidia/cuda:12.9.1-runtime-ubuntu24.04"]["state"] == "pass"
    assert all(image.startswith("ib/") for image in arm.registry.asked)


def test_a_registry_sends_nobody_to_what_a_service_of_this_machine_hands_out(checked: Checked, arm: Arm) -> None:
    """The token would be sent on to the registry."""
    arm.registry.tokens = "http://169.254.169.254/metadata/identity"
    code, lines = checked("-s", "dev")
    assert code == 0
    found = "nvcr.io does not answer as a registry: ValueError: its tokens are at 'http://169.254.169.254/metadata/identity'"
    assert (lines[CUDA]["state"], lines[CUDA]["found"]) == ("not checked", found)


def test_a_registry_that_cannot_be_reached_from_here_may_be_from_the_nodes(
    checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "url_of", lambda _: "https://127.0.0.1:1")  # no process may listen there
    code, lines = checked("-s", "dev")
    assert code == 0
    assert lines[CUDA]["state"] == "not checked"
    assert lines[CUDA]["found"].startswith("nvcr.io cannot be reached from here: ")


@pytest.mark.parametrize(
    ("reference", "host", "repository", "tag"),
    [
        ("nvcr.io/nvidia/pytorch:25.12-py3", "nvcr.io", "nvidia/pytorch", "25.12-py3"),
        ("127.0.0.1:5000/a/b", "127.0.0.1:5000", "a/b", "latest"),
        ("localhost/a@sha256:0f", "localhost", "a", "sha256:0f"),
        ("busybox:1.35", "docker.io", "library/busybox", "1.35"),
        ("docker.io/busybox", "docker.io", "library/busybox", "latest"),
        ("somebody/tools:2", "docker.io", "somebody/tools", "2"),
    ],
)
def test_a_reference_is_read_as_container_runtimes_read_it(
    reference: str, host: str, repository: str, tag: str
) -> None:
    assert registry.parts_of(reference) == (host, repository, tag)


def test_docker_hub_answers_at_another_host_than_its_name() -> None:
    assert registry.url_of("docker.io") == "https://registry-1.docker.io"
