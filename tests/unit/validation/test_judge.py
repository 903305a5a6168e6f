"""Every check passes on a healthy node, and fails with node and device when that one thing is wrong."""

from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.payload.look.judge import judge_node, judge_pool
from aks_infiniband.validation.pool_expectations import expectations


def test_a_healthy_pool_fails_nothing_and_says_what_nobody_means_to_measure(healthy: Any, expected: Any) -> None:
    expected = expected | {"not_measured": ["all-reduce"]}
    checks = judge_pool({"n0": healthy(), "n1": healthy()}, expected)

    assert {check["verdict"] for check in checks} == {"pass", "not measured"}
    assert [check["check"] for check in checks if check["verdict"] == "not measured"] == ["all-reduce"]


@pytest.mark.field_report("A5", "C6")
def test_nodes_that_run_different_versions_are_told_apart(healthy: Any, expected: Any) -> None:
    facts = {"n0": healthy(), "n1": healthy(), "n2": healthy()}
    facts["n1"]["versions"] |= {"kernel": "6.8.0-1050-azure"}

    (check,) = [check for check in judge_pool(facts, expected | {"node_count": 3}) if check["verdict"] == "warn"]
    assert (check["check"], check["device"]) == ("versions", "kernel")
    assert check["measured"] == {"6.8.0-1046-azure": "n0, n2", "6.8.0-1050-azure": "n1"}


@pytest.mark.field_report("C6")
def test_every_check_is_made_on_every_node(healthy: Any, expected: Any) -> None:
    checks = judge_pool({"n0": healthy(), "n1": healthy()}, expected)

    for node in ("n0", "n1"):
        assert [check["check"] for check in checks if check["node"] == node] == [
            "environment",
            "hca-count",
            "hca-state",
            "hca-physical-state",
            "hca-rate",
            "nccl-hca-filter",
            "rdma-devices",
            "verbs-devices",
            "accelerator-devices",
            "memlock",
            "shm",
        ]


@pytest.mark.field_report("B13b")
@pytest.mark.parametrize(
    ("key", "value", "check"),
    [
        ("state", "DOWN", "hca-state"),
        ("state", "INIT", "hca-state"),
        ("state", None, "hca-state"),
        ("physical_state", "Polling", "hca-physical-state"),
        ("rate_gbps", 200.0, "hca-rate"),
        ("rate_gbps", None, "hca-rate"),
    ],
)
def test_a_port_that_is_not_as_promised_is_named_by_node_and_device(
    healthy: Any, expected: Any, bad: Any, key: Any, value: Any, check: Any
) -> None:
    facts = healthy()
    facts["hcas"][5][key] = value

    assert bad(judge_node("n1", facts, expected)) == [(check, "n1", "mlx5_ib5")]
    failed = next(check for check in judge_node("n1", facts, expected) if check["verdict"] == "fail")
    assert failed["measured"] == value


def test_two_bad_ports_are_two_findings(healthy: Any, expected: Any, bad: Any) -> None:
    facts = healthy()
    facts["hcas"][0]["state"] = facts["hcas"][7]["state"] = "DOWN"

    assert bad(judge_node("n0", facts, expected)) == [("hca-state", "n0", "mlx5_ib0"), ("hca-state", "n0", "mlx5_ib7")]


@pytest.mark.field_report("A6", "B14")
def test_a_missing_hca_is_counted_and_the_present_ones_are_named(healthy: Any, expected: Any, bad: Any) -> None:
    facts = healthy()
    del facts["hcas"][3], facts["uverbs"][3]

    checks = judge_node("n0", facts, expected)
    assert bad(checks) == [("hca-count", "n0", None), ("rdma-devices", "n0", None)]
    count = next(check for check in checks if check["check"] == "hca-count")
    assert (count["expected"], count["measured"]) == (8, 7)
    assert "mlx5_ib2, mlx5_ib4" in str(count["cause"])
    assert "mlx5_an0" in str(count["cause"])


def test_without_any_hca_nothing_about_ports_is_claimed(healthy: Any, expected: Any, bad: Any) -> None:
    facts = healthy()
    facts["hcas"] = []

    checks = judge_node("n0", facts, expected)
    assert ("hca-count", "n0", None) in bad(checks)
    for name in ("hca-state", "hca-physical-state", "hca-rate"):
        assert next(check["verdict"] for check in checks if check["check"] == name) == "not measured"


@pytest.mark.field_report("C3")
def test_a_variable_that_differs_or_is_missing_is_named(healthy: Any, expected: Any, bad: Any) -> None:
    facts = healthy()
    facts["environment"]["NCCL_IB_DISABLE"] = "1"
    del facts["environment"]["NCCL_SOCKET_IFNAME"]

    failed = [check for check in judge_node("n0", facts, expected) if check["verdict"] == "fail"]
    assert [(check["check"], check["expected"], check["measured"]) for check in failed] == [
        ("environment", "NCCL_IB_DISABLE=0", "NCCL_IB_DISABLE=1"),
        ("environment", "NCCL_SOCKET_IFNAME=eth0", "NCCL_SOCKET_IFNAME not set"),
    ]


def test_a_device_that_the_pod_cannot_open_is_named(healthy: Any, expected: Any, bad: Any) -> None:
    facts = healthy()
    facts["uverbs"].remove("uverbs6")

    assert bad(judge_node("n0", facts, expected)) == [("rdma-devices", "n0", "mlx5_ib6")]


def test_too_few_device_files_fail_where_the_kernel_does_not_say_whose_they_are(
    healthy: Any, expected: Any, bad: Any
) -> None:
    facts = healthy()
    facts["uverbs_of"] = {}
    facts["uverbs"] = []

    assert ("rdma-devices", "n0", None) in bad(judge_node("n0", facts, expected))


@pytest.mark.field_report("A6")
@pytest.mark.parametrize("seen", [7, 9, 0])
def test_another_number_of_gpus_fails(healthy: Any, expected: Any, bad: Any, seen: Any) -> None:
    facts = healthy()
    facts["accelerator_devices"] = [f"nvidia{index}" for index in range(seen)]

    assert bad(judge_node("n0", facts, expected)) == [("accelerator-devices", "n0", None)]


def test_a_size_without_accelerators_is_not_asked_for_any(healthy: Any, pool: Any) -> None:
    expected: Any = expectations(pool.changed(size=SIZES["Standard_HB176rs_v4"]))
    facts = healthy()
    facts["hcas"] = facts["hcas"][:1]
    facts["accelerator_devices"] = []

    checks = judge_node("n0", facts, expected)
    assert "accelerator-devices" not in [check["check"] for check in checks]
    assert {check["verdict"] for check in checks} == {"pass"}


@pytest.mark.field_report("C2")
@pytest.mark.parametrize(
    ("limit", "ipc_lock", "verdict"),
    [(8388608, True, "pass"), (-1, False, "pass"), (8388608, False, "fail"), (None, False, "fail")],
)
def test_memory_can_be_locked_with_the_capability_or_without_a_limit(
    healthy: Any, expected: Any, limit: Any, ipc_lock: Any, verdict: Any
) -> None:
    facts = healthy()
    facts["memlock_bytes"], facts["ipc_lock"] = limit, ipc_lock

    memlock = next(check for check in judge_node("n0", facts, expected) if check["check"] == "memlock")
    assert (memlock["verdict"], memlock["node"]) == (verdict, "n0")


@pytest.mark.parametrize(
    ("limit", "ipc_lock", "shown"),
    [
        (8388608, True, "8388608 bytes, IPC_LOCK"),
        (-1, False, "unlimited"),
        (8388608, False, "8388608 bytes"),
        (None, False, "unreadable"),
    ],
)
def test_the_limit_and_the_capability_are_both_shown(
    healthy: Any, expected: Any, limit: Any, ipc_lock: Any, shown: Any
) -> None:
    facts = healthy()
    facts["memlock_bytes"], facts["ipc_lock"] = limit, ipc_lock
    assert next(c["measured"] for c in judge_node("n0", facts, expected) if c["check"] == "memlock") == shown


@pytest.mark.field_report("C7")
@pytest.mark.parametrize(("size", "verdict"), [(64 << 20, "fail"), (1 << 30, "pass"), (None, "fail")])
def test_shared_memory_of_the_default_size_is_too_small(healthy: Any, expected: Any, size: Any, verdict: Any) -> None:
    facts = healthy()
    facts["shm_bytes"] = size

    assert next(c["verdict"] for c in judge_node("n0", facts, expected) if c["check"] == "shm") == verdict


@pytest.mark.field_report("C6")
def test_a_node_that_did_not_report_fails_the_pool(healthy: Any, expected: Any, bad: Any) -> None:
    checks = judge_pool({"n0": healthy()}, expected)

    assert bad(checks) == [("nodes-reported", None, None)]
    assert (checks[0]["expected"], checks[0]["measured"]) == (2, 1)
    assert "n0" in str(checks[0]["cause"])
