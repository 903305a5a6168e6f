"""The sample Job of a pool, as kubectl takes it."""

import json
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.versions import COLLECTIVE_IMAGE
from aks_infiniband.resources.registry import Registry
from aks_infiniband.workload.environment import LIST_HCAS
from aks_infiniband.workload.sample_job import sample_job

from tests.some_pools import pool

CPU = "Standard_HB176rs_v4"


def parts(of: Any, **more: Any) -> tuple[Any, Any, Any]:
    config_map, service, job = sample_job(of, **more)["items"]
    return config_map, service, job


def pod_of(of: Any, **more: Any) -> Any:
    return parts(of, **more)[2]["spec"]["template"]["spec"]


def test_it_is_one_document_that_kubectl_applies() -> None:
    sample = sample_job(pool())
    assert json.loads(json.dumps(sample)) == sample
    assert (sample["apiVersion"], sample["kind"]) == ("v1", "List")
    assert {item["metadata"]["namespace"] for item in sample["items"]} == {"aks-infiniband"}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.field_report("A2c")
def test_on_every_size_one_pod_runs_on_each_machine_of_one_pool(size: str) -> None:
    job = parts(pool(size, node_count=3))[2]["spec"]
    assert (job["completionMode"], job["completions"], job["parallelism"]) == ("Indexed", 3, 3)
    pod = job["template"]["spec"]
    (apart,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert pod["nodeSelector"] == {"kubernetes.azure.com/agentpool": "ndh100"}


def test_on_gpus_the_pods_reduce_together_after_each_has_shown_its_infiniband() -> None:
    pod = pod_of(pool())
    (show,), (reduce,) = pod["initContainers"], pod["containers"]
    assert show["command"][:4] == ["python3", "/opt/aks-infiniband/show_infiniband.py", "--hcas", "8"]
    assert reduce["command"][:4] == ["sh", "-c", f'{LIST_HCAS}; exec "$@"', "sh"]
    assert reduce["command"][4:] == [
        "torchrun",
        "--nnodes=2",
        "--nproc-per-node=8",
        "--node-rank=$(JOB_COMPLETION_INDEX)",
        "--master-addr=sample-ndh100-0.sample-ndh100",
        "--master-port=29500",
        "/opt/aks-infiniband/all_reduce.py",
    ]
    assert reduce["image"] == COLLECTIVE_IMAGE
    assert reduce["resources"]["limits"] == {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}


def test_the_container_that_shows_holds_the_hcas_and_no_gpu() -> None:
    (show,) = pod_of(pool(mode="sriov"))["initContainers"]
    assert show["resources"]["limits"] == {"memory": "128Mi", "rdma/ib": "8"}


def test_the_pods_find_each_other_by_name_before_they_are_ready() -> None:
    _, service, job = parts(pool())
    assert service["spec"]["clusterIP"] == "None"
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": job["metadata"]["name"]}
    assert job["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"]


@pytest.mark.parametrize("size", [CPU, "Standard_ND96isr_MI300X_v5"])
def test_where_nobody_offers_gpus_of_nvidia_the_pods_show_their_infiniband(size: str) -> None:
    pod = pod_of(pool(size))
    assert [container["name"] for container in pod["containers"]] == ["show"]
    assert "initContainers" not in pod
    assert list(parts(pool(size))[0]["data"]) == ["show_infiniband.py"]


def test_in_mode_ipoib_the_pods_look_for_their_interfaces() -> None:
    template = parts(pool(mode="ipoib"))[2]["spec"]["template"]
    assert "k8s.v1.cni.cncf.io/networks" in template["metadata"]["annotations"]
    assert template["spec"]["initContainers"][0]["command"][-1] == "--interface=net1"


def test_in_mode_driver_only_the_pods_mount_the_device_nodes_and_wait_for_the_driver() -> None:
    pod = pod_of(pool(CPU, mode="driver-only"))
    assert pod["containers"][0]["securityContext"] == {"privileged": True}
    assert set(pod["affinity"]) == {"nodeAffinity", "podAntiAffinity"}


@pytest.mark.field_report("C11")
def test_images_come_from_the_given_registry_with_its_secret() -> None:
    registry = Registry(images="mirror.example/aks", pull_secret="aks-infiniband-registry")
    pod = pod_of(pool(), registry=registry)
    images = [container["image"] for container in (*pod["initContainers"], *pod["containers"])]
    assert all(image.startswith("mirror.example/aks/") for image in images)
    assert pod["imagePullSecrets"] == [{"name": "aks-infiniband-registry"}]


@pytest.mark.parametrize("size", SIZES)
def test_images_are_pinned_and_run_on_the_sizes_gpus(size: str) -> None:
    pod = pod_of(pool(size))
    containers = [*pod.get("initContainers", []), *pod["containers"]]
    assert all(container["image"].rpartition(":")[2][0].isdigit() for container in containers)
    assert ("24.10" in containers[-1]["image"]) is (size == "Standard_ND40rs_v2"), "CUDA 13 has no code for V100"


def test_every_object_carries_the_recommended_labels() -> None:
    _, _, job = parts(pool())
    for labelled in (*sample_job(pool())["items"], job["spec"]["template"]):
        assert labelled["metadata"]["labels"] == {
            "app.kubernetes.io/name": "sample",
            "app.kubernetes.io/component": "workload",
            "app.kubernetes.io/part-of": "aks-infiniband",
            "app.kubernetes.io/instance": "ndh100",
            "app.kubernetes.io/managed-by": "kubectl",
        }
