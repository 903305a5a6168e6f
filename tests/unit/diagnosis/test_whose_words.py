"""A line counts for a cause only if its author can know: an application's own lines are shown, and explain nothing."""

from typing import Any

import pytest
from aks_infiniband.diagnosis.pods import pod_findings
from aks_infiniband.diagnosis.view import View


def crashing(namespace: str, *, waiting: str = "back-off", reason: str = "CrashLoopBackOff") -> dict[str, Any]:
    ended = {"exitCode": 1, "reason": "Error"}
    status = {"name": "main", "ready": False, "state": {"waiting": {"reason": reason, "message": waiting}}}
    return {
        "metadata": {"name": "p", "namespace": namespace},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "x"}]},
        "status": {"phase": "Running", "containerStatuses": [{**status, "lastState": {"terminated": ended}}]},
    }


def symptom(pod: Any, log: str = "") -> str:
    namespace = pod["metadata"]["namespace"]
    (found,) = pod_findings([pod], View(pods=[pod], logs={f"{namespace}/p": log} if log else {}))
    assert not log or log in found.what, "whatever it means, it is shown"
    return found.symptom


OWN = [
    "httpx.HTTPStatusError: Client error '401 Unauthorized' for url 'https://models.example/config.json'",
    "requests.exceptions.HTTPError: 429 Too Many Requests",
    "OSError: [Errno 12] Cannot allocate memory",
    "BlockingIOError: fork: Cannot allocate memory",
    'configmaps is forbidden: User "system:serviceaccount:apps:default" cannot list resource "configmaps"',
    "Kernel headers for the model were not found",
    "Storage modules are loaded",
    "authentication required to pull dataset",
]


@pytest.mark.parametrize("line", OWN)
def test_an_applications_own_line_is_no_cause(line: str) -> None:
    assert symptom(crashing("apps"), line) == "container-fails"


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory", "memlock"),
        ("RuntimeError: CUDA error 802: system not yet initialized", "fabric-manager"),
        ("Failed to initialize NVML: Driver/library version mismatch", "nvml-mismatch"),
        ("NVRM: Xid (PCI:0001:00:00): 79, GPU has fallen off the bus", "gpu-lost"),
    ],
)
@pytest.mark.parametrize("namespace", ["apps", "gpu-operator"])
def test_what_tells_of_hardware_and_drivers_counts_whoever_says_it(namespace: str, line: str, known: str) -> None:
    assert symptom(crashing(namespace), line) == known


def test_a_drivers_own_line_counts_in_its_operators_namespace_alone() -> None:
    line = "Could not resolve Linux kernel version"
    assert symptom(crashing("gpu-operator"), line) == "gpu-driver-kernel"
    assert symptom(crashing("apps"), line) == "container-fails"


@pytest.mark.parametrize(
    ("words", "known"),
    [
        ("failed to authorize: 401 Unauthorized", "image-credentials"),
        ("unexpected status code: 429 Too Many Requests", "image-throttled"),
        ('failed to resolve reference "x/y:z": not found', "image-missing"),
    ],
)
def test_the_kubelets_words_count_for_every_pod(words: str, known: str) -> None:
    assert symptom(crashing("apps", waiting=words, reason="ErrImagePull")) == known


def test_the_runtimes_words_of_a_driver_count_for_every_pod() -> None:
    words = "nvidia-container-cli: initialization error: nvml error: driver/library version mismatch"
    assert symptom(crashing("apps", waiting=words, reason="CreateContainerError")) == "nvml-mismatch"
