"""Images that are pulled while drivers are installed."""

from typing import Any

from aks_infiniband.hosts.image_pull import ImagePull
from aks_infiniband.resources.registry import Registry

from tests.some_pools import pool

TRAIN = "docker.io/me/train:1"


def pod(**more: Any) -> Any:
    return ImagePull(**{"pools": [pool()], "images": [TRAIN], **more}).spec()["template"]["spec"]


def test_nodes_of_tainted_pools_pull_one_image_after_the_other() -> None:
    found = pod(pools=[pool(taints=("sku=hpc:NoSchedule",))], images=[TRAIN, "nvcr.io/nvidia/pytorch:25.12-py3"])
    assert [container["image"] for container in found["initContainers"]] == [TRAIN, "nvcr.io/nvidia/pytorch:25.12-py3"]
    assert found["tolerations"] == [{"key": "sku", "operator": "Equal", "value": "hpc", "effect": "NoSchedule"}]


def test_it_asks_for_no_device_no_privilege_and_no_credentials_of_the_cluster() -> None:
    found = pod()
    containers = [*found["initContainers"], *found["containers"]]
    for container in containers:
        assert set(container["resources"]["limits"]) == {"cpu", "memory"}
        assert container["securityContext"]["runAsNonRoot"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert found["initContainers"][0]["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
    assert found["automountServiceAccountToken"] is False
    assert not {"hostPID", "hostNetwork", "hostIPC", "volumes"} & found.keys()


def test_all_of_it_comes_from_the_mirror_with_its_secret() -> None:
    found = pod(registry=Registry(images="acr.example/mirror", pull_secret="login"))
    images = [container["image"] for container in (*found["initContainers"], *found["containers"])]
    assert all(image.startswith("acr.example/mirror/") for image in images)
    assert found["imagePullSecrets"] == [{"name": "login"}]


def test_other_images_are_another_daemon_set_as_its_selector_cannot_change() -> None:
    first, second = (ImagePull(pools=[pool()], images=[image]) for image in (TRAIN, "docker.io/me/train:2"))
    assert first.name != second.name
    assert first.spec()["selector"]["matchLabels"] == {"app.kubernetes.io/name": first.name}
