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


def test_an_image_that_is_not_there_fails_with_what_to_do(checked: Checked, arm: Arm) -> None:
    arm.registry.refusals = {"^nvidia/cuda:": 404}
    code, lines = checked("-s", "dev")
    assert code == 1
    assert [name for name, line in lines.items() if line["state"] == "fail"] == [CUDA]
    assert lines[CUDA]["found"] == "nvcr.io has it not"
    assert "aks-infiniband:registry.images" in lines[CUDA]["remedy"]


def test_an_image_must_be_there_for_the_nodes_architecture(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    arm.feature, arm.registry.only = "NotRegistered", {"^azurelinux/base/python:": ("amd64",)}
    code, lines = checked(*stack(tmp_path, pool={"vmSize": GB300}))
    assert code == 1
    (failing,) = [line for line in lines.values() if line["state"] == "fail"]
    assert "azurelinux/base/python" in failing["check"]
    assert "not for linux/arm64 of the nodes" in failing["found"]


def test_the_ofed_driver_is_that_of_the_nodes_system(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    checked(*stack(tmp_path, pool={"osSku": "Ubuntu2204"}))
    assert f"{OFED}-ubuntu22.04-amd64" in arm.registry.asked


def test_a_gpu_driver_of_a_given_version_must_be_there_for_the_nodes_system(
    checked: Checked, arm: Arm, tmp_path: Path
) -> None:
    given = {"aks-infiniband:gpuOperator": {"driverVersion": "580.105.08"}}
    arm.registry.refusals = {"nvidia/driver:": 404}
    _, lines = checked(*stack(tmp_path, **given))
    assert lines["image nvcr.io/nvidia/driver:580.105.08-ubuntu24.04"]["state"] == "fail"


def test_an_image_that_a_chart_names_itself_must_be_there_for_the_nodes(
    checked: Checked, arm: Arm, tmp_path: Path
) -> None:
    """As the stack's values have it: another version, or none if the part is off or AKS brings it."""
    toolkit, validator = "image nvcr.io/nvidia/k8s/container-toolkit", "image nvcr.io/nvidia/gpu-operator:v26.3.3"
    arm.registry.only = {"container-toolkit": ("arm64",)}
    _, lines = checked("-s", "dev")
    assert lines[f"{toolkit}:v1.19.1"]["state"] == "fail"
    assert "not for linux/amd64 of the nodes" in lines[f"{toolkit}:v1.19.1"]["found"]
    given = {"toolkit": {"version": "v1.20.0"}, "dcgmExporter": {"enabled": False}}
    _, lines = checked(*stack(tmp_path, **{"aks-infiniband:gpuOperator": {"values": given}}))
    assert lines[f"{toolkit}:v1.20.0"]["state"] == "fail"
    assert not [name for name in lines if "dcgm-exporter" in name]
    _, lines = checked(*stack(tmp_path, pool={"gpuDriver": "aks"}, **{"aks-infiniband:gpuOperator": {}}))
    assert not [name for name in lines if "toolkit" in name or "driver-manager" in name or "nvidia/driver" in name]
    assert lines[validator]["state"] == "pass"


def test_an_operators_own_image_is_looked_for_whatever_its_nodes_are(checked: Checked, arm: Arm) -> None:
    arm.registry.refusals = {"^nvidia/cloud-native/network-operator:": 404}
    arm.registry.only = {"^nvidia/gpu-operator:": ("amd64",)}
    _, lines = checked("-s", "dev")
    assert lines["image nvcr.io/nvidia/cloud-native/network-operator:v26.4.1"]["found"] == "nvcr.io has it not"
    assert lines["image nvcr.io/nvidia/gpu-operator:v26.3.3"]["state"] == "pass"


def test_of_another_chart_the_images_are_not_known(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    given = {"aks-infiniband:gpuOperator": {"chart": {"version": "v26.7.1"}, "driverVersion": "595.91.07"}}
    _, lines = checked(*stack(tmp_path, **given))
    unknown = lines["images of the GPU Operator's chart"]
    assert (unknown["state"], unknown["found"]) == (
        "not checked",
        "v26.7.1 names its own; those of v26.3.3 are known here",
    )
    assert "image nvcr.io/nvidia/driver:595.91.07-ubuntu24.04" in lines, "the stack names this one"
    assert not [name for name in lines if "toolkit" in name]


def test_what_builds_amds_driver_must_be_there_and_what_gives_its_webhook_a_certificate(
    checked: Checked, arm: Arm, tmp_path: Path
) -> None:
    mi300x = {"vmSize": "Standard_ND96isr_MI300X_v5", "gpuDriver": "operator"}
    given = {"aks-infiniband:amdGpuOperator": {"driverImage": "mirror.azurecr.io/amd/amdgpu-kmod"}}
    arm.registry.refusals = {"kernel-module-management-webhook-server:": 404, "cert-manager-cainjector:": 404}
    _, lines = checked(*stack(tmp_path, pool=mi300x, **given))
    assert [name for name, line in lines.items() if line["state"] == "fail" and name.startswith("image ")] == [
        "image docker.io/rocm/kernel-module-management-webhook-server:v1.5.0",
        "image quay.io/jetstack/cert-manager-cainjector:v1.21.2",
    ]
    assert lines["image docker.io/rocm/amd-gpu-operator:v1.5.1"]["state"] == "pass"
    assert lines["image gcr.io/kaniko-project/executor:v1.23.2"]["state"] == "pass"


@pytest.mark.parametrize(
    ("setting", "title", "pool"),
    [
        ("draDriver", "DRA driver", {"vmSize": GB300}),
        ("amdGpuOperator", "AMD GPU Operator", {"vmSize": "Standard_ND96isr_MI300X_v5", "gpuDriver": "image"}),
    ],
)
def test_of_another_chart_than_the_pinned_one_the_images_are_not_known_whoevers_it_is(
    checked: Checked, arm: Arm, tmp_path: Path, setting: str, title: str, pool: dict[str, str]
) -> None:
    arm.feature = "NotRegistered"
    _, lines = checked(*stack(tmp_path, pool=pool, **{f"aks-infiniband:{setting}": {"chart": {"version": "99.1.0"}}}))
    assert lines[f"images of the {title}'s chart"]["state"] == "not checked"
    assert lines[f"images of the {title}'s chart"]["found"].startswith("99.1.0 names its own")


def test_the_exporter_must_be_there_where_metrics_are_asked_for(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    _, lines = checked(*stack(tmp_path, **{"aks-infiniband:observability": {"prometheus": "azure"}}))
    assert lines["image quay.io/prometheus/node-exporter:v1.12.1"]["state"] == "pass"


def test_with_a_mirror_the_mirror_is_asked(checked: Checked, arm: Arm, tmp_path: Path) -> None:
    _, lines = checked(*stack(tmp_path, **{"aks-infiniband:registry": {"images": "mirror.example.com/ib"}}))
    assert lines["image mirror.example.com/ib/nvidia/cuda:12.9.1-runtime-ubuntu24.04"]["state"] == "pass"
    assert all(image.startswith("ib/") for image in arm.registry.asked)


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (403, "nvcr.io requires a login"),
        (503, "nvcr.io answers 503"),
        (200, "nvcr.io does not answer as a registry: KeyError: 'config'"),
    ],
)
def test_where_a_registry_does_not_tell_the_image_is_not_checked(
    checked: Checked, arm: Arm, status: int, found: str
) -> None:
    arm.registry.refusals = {"^nvidia/cuda:": status}
    code, lines = checked("-s", "dev")
    assert code == 0
    assert (lines[CUDA]["state"], lines[CUDA]["found"]) == ("not checked", found)
    assert "docker manifest inspect" in lines[CUDA]["remedy"]


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


@pytest.mark.usefixtures("kubeconfig_at_home")
def test_of_machines_that_somebody_else_makes_the_system_is_not_known(checked: Checked) -> None:
    _, lines = checked("-s", "existing")
    assert lines["image doca-driver"]["state"] == "not checked"
    assert lines[CUDA]["state"] == "pass"


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
