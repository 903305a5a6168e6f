"""A cordon, a taint or a condition of another program is named with its author, and nothing is taken back from it."""

from typing import Any

import pytest
from aks_infiniband.diagnosis.holds import condition_findings, cordoned, holder_of, holds_of


def node(*, conditions: Any = (), taints: Any = (), cordon: bool = True, **metadata: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "n1", **metadata},
        "spec": {"unschedulable": cordon, "taints": list(taints)},
        "status": {"conditions": [{"type": "Ready", "status": "True"}, *conditions]},
    }


MARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "validate": (
        "aks-infiniband validate --cordon",
        {"annotations": {"aks-infiniband/cordoned-by-validate": "rdma-write-bandwidth: 314 Gb/s"}},
    ),
    "replace": ("aks-infiniband replace", {"annotations": {"aks-infiniband/replaced-by": "ab12"}}),
    "NVSentinel": ("NVSentinel", {"annotations": {"quarantineHealthEventIsCordoned": "True"}}),
    "NVSentinel by label": ("NVSentinel", {"labels": {"dgxc.nvidia.com/nvsentinel-state": "quarantined"}}),
    "autoscaler": ("the cluster autoscaler", {"taints": [{"key": "ToBeDeletedByClusterAutoscaler", "value": "1"}]}),
    "auto-provisioning": ("node auto-provisioning", {"taints": [{"key": "karpenter.sh/disrupted"}]}),
    "auto-drain": (
        "AKS's node auto-drain",
        {"taints": [{"key": "remediator.kubernetes.azure.com/unschedulable", "effect": "NoSchedule"}]},
    ),
    "readiness": ("Node Readiness Controller", {"taints": [{"key": "readiness.k8s.io/rdma"}]}),
    "AKS": ("AKS", {"labels": {"kubernetes.azure.com/upgrade-status": "draining"}}),
    "driver": ("an operator of NVIDIA's", {"labels": {"nvidia.com/gpu-driver-upgrade-state": "drain-required"}}),
}


@pytest.mark.parametrize("case", MARKS)
def test_a_node_that_another_one_holds_is_not_to_be_uncordoned(case: str) -> None:
    author, mark = MARKS[case]
    found = cordoned(node(**mark))
    assert found is not None
    assert author in (found.cause or "")
    assert found.fix
    assert "NODE" not in found.fix
    assert "kubectl uncordon" not in f"{found.command} {found.fix}"


def test_what_validate_measured_and_the_next_commands_are_told() -> None:
    found = cordoned(node(**MARKS["validate"][1]))
    assert found is not None
    assert "rdma-write-bandwidth: 314 Gb/s" in (found.cause or "")
    assert "aks-infiniband evidence n1" in (found.fix or "")
    assert "aks-infiniband replace n1" in (found.fix or "")


def test_only_a_cordon_without_a_mark_on_a_sound_node_is_to_be_taken_back() -> None:
    done = {"nvidia.com/gpu-driver-upgrade-state": "upgrade-done"}
    found = cordoned(node(labels=done))
    assert found is not None
    assert found.command == "kubectl uncordon n1"
    assert holds_of(node(labels=done)) == []
    ill = cordoned(node(conditions=[{"type": "GPUMissing", "status": "True", "message": "7 of 8"}]))
    assert ill is not None
    assert "7 of 8" in (ill.cause or "")
    assert "uncordon" not in f"{ill.command} {ill.fix}"
    assert cordoned(node(cordon=False, **MARKS["validate"][1])) is None


BAD = [
    ("GPUMissing", "True", "GPUMissing"),
    ("IBLinkFlapping", "True", "IBLinkFlapping"),
    ("XIDErrors", "True", "XIDErrorsDetected"),
    ("NVLinkStatusInactive", "True", "NVLinkStatusInactive"),
    ("GPUClockThrottling", "True", "GPUClockThrottling"),
    ("UnhealthyNvidiaDevicePlugin", "True", "UnhealthyNvidiaDevicePlugin"),
    ("UnhealthyNvidiaDCGMServices", "True", "UnhealthyNvidiaDCGMServices"),
    ("NvidiaSmiProblem", "True", "NvidiaSmiProblem"),
    ("OutOfDisk", "True", "OutOfDisk"),
    ("ReadOnlyRootFileSystem", "True", "ReadOnlyRootFileSystem"),
    ("ResourceExhausted", "True", "ResourceExhausted"),
    ("TempIMEXProblem", "True", "IMEXUnhealthy"),
    ("RedeployScheduled", "True", "RedeployScheduled"),
    ("VMEventScheduled", "True", "VMEventScheduled"),
    ("GpuMemWatch", "True", "GpuMemWatchIsNotHealthy"),
    ("SysLogsSXIDError", "True", "SysLogsSXIDErrorIsNotHealthy"),
    ("DiskPressure", "True", "KubeletHasDiskPressure"),
    ("example.com/FabricReady", "False", "FabricNotReady"),
    ("NetworkUnavailable", "True", "NoRouteCreated"),
]
GOOD = [
    ("GPUMissing", "False", "NoGPUMissing"),
    ("GpuMemWatch", "True", "GpuMemWatchIsHealthy"),
    ("KernelDeadlock", "False", "KernelHasNoDeadlock"),
    ("example.com/FabricReady", "True", "FabricReady"),
    ("example.com/Configured", "True", "Configured"),
    ("MemoryPressure", "False", "KubeletHasSufficientMemory"),
    ("DiskPressure", "Unknown", "NodeStatusUnknown"),
]


@pytest.mark.parametrize(("kind", "status", "reason"), BAD)
def test_a_condition_that_tells_of_a_problem_is_told_with_its_message(kind: str, status: str, reason: str) -> None:
    said = {"type": kind, "status": status, "reason": reason, "message": "on mlx5_3"}
    (found,) = condition_findings(node(cordon=False, conditions=[said]))
    assert (found.symptom, found.about) == ("node-condition", "node n1")
    assert f"{kind}={status}: on mlx5_3" in found.what
    assert found.cause
    assert found.fix


@pytest.mark.parametrize(("kind", "status", "reason"), GOOD)
def test_a_condition_of_a_sound_node_is_not_told(kind: str, status: str, reason: str) -> None:
    assert [*condition_findings(node(conditions=[{"type": kind, "status": status, "reason": reason}]))] == []


@pytest.mark.parametrize("key", ["readiness.k8s.io/rdma", "aks-infiniband/quarantine", "karpenter.sh/disrupted"])
def test_a_taint_of_a_program_has_its_author(key: str) -> None:
    holder = holder_of({"key": key, "effect": "NoSchedule"}, node())
    assert holder is not None
    assert holder.author
    assert holder_of({"key": "maintenance", "effect": "NoSchedule"}, node()) is None
