"""Runs of the all-reduce that failed: which rank is to blame, and what its last words mean."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.collective.failures import (
    CAUSE,
    FOLLOWED,
    STOPPED,
    UNREACHED,
    WAITED,
    culprits,
    explained,
    likely_cause,
    with_names,
)
from aks_infiniband.validation.payload.collective.results import merged, node_entry
from aks_infiniband.validation.payload.programs.endings import CAUSES

from tests.unit.validation.collective_runs import failure, judged, run


def test_what_a_rank_says_last_leads_to_a_cause() -> None:
    for output, word in [
        ("OSError: the image has no libnccl.so.2 and no librccl.so.1", "lacks NCCL"),
        ("OSError: libcudart.so.13: cannot open shared object file: No such file or directory", "the CUDA runtime"),
        ("OSError: libcuda.so.1: cannot open shared object file: No such file or directory", "lacks the GPU driver"),
        ("The server socket has failed to listen … errno: 98 - Address already in use", "port"),
        ("NCCL WARN Error while creating shared memory segment … No space left on device", "/dev/shm"),
        ("failed to extend /dev/shm/nccl-6Qz to 9637892 bytes, error: No space left on device (28)", "/dev/shm"),
        ("OSError: [Errno 28] No space left on device: '/workspace/ranks.json'", "a disk is full"),
        ("NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory", "IPC_LOCK"),
        ("torch.AcceleratorError: CUDA error: invalid device ordinal", "GPU is not there"),
        ("CUDA error: no kernel image is available for execution on the device", "lacks code for this GPU"),
        ("CUDA error: uncorrectable ECC error encountered", "xid"),
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 8.00 GiB", "free memory"),
        ("NCCL error in: NCCLUtils.cpp:93, invalid usage (run with NCCL_DEBUG=WARN for details)", "NCCL_*"),
    ]:
        cause = likely_cause("ended with exit code 1", output)
        assert cause is not None
        assert word in cause
        assert failure(output)["part"] == CAUSE


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        # NCCL 2.28.9 on four H200s, one rank killed or missing (docs/measurements.md).
        ({"output": "nccl error, remote process exited or there was a network error, NCCL version 2.28.9"}, FOLLOWED),
        ({"output": "collective operation timeout: ncclCommInitRank did not end within 120 s"}, WAITED),
        ({"output": "RuntimeError: NCCL error: remote process exited or there was a network error"}, FOLLOWED),
        ({"output": None, "own": False, "reason": "still running at the time limit: stopped"}, STOPPED),
        ({"output": "RuntimeError: something else"}, CAUSE),
        ({"output": "RuntimeError: node rank 0 has no unique id for the ranks to meet by"}, FOLLOWED),
        ({"output": None, "reason": "ended by signal SIGBUS"}, CAUSE),
    ],
)
def test_who_only_followed_another_is_told_from_who_has_a_cause_of_its_own(changes: dict[str, Any], part: str) -> None:
    assert failure(**changes)["part"] == part


LOST = "NET/IB: Got completion from peer {}<44206> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1)"
ADDRESSES = {"10.244.0.1": "aks-a", "10.244.0.2": "aks-b", "10.244.0.3": "aks-c"}


def unreached(node: str, address: str) -> Any:
    return with_names(failure(LOST.format(address), node=node), ADDRESSES)


def test_of_two_that_do_not_reach_each_other_both_are_named_and_each_with_the_other() -> None:
    failures = [unreached("aks-a", "10.244.0.2"), unreached("aks-b", "10.244.0.1")]
    found = [(told["node"], told["cause"].partition(":")[0]) for told in culprits(failures)]
    assert found == [("aks-a", "it does not reach aks-b"), ("aks-b", "it does not reach aks-a")]


def test_a_node_in_every_pair_that_does_not_reach_each_other_is_the_one_that_is_named() -> None:
    gone = failure("remote process exited or there was a network error", node="aks-d")
    (told,) = culprits([gone, unreached("aks-b", "10.244.0.1"), unreached("aks-c", "10.244.0.2")])
    assert told["node"] == "aks-b"
    assert told["cause"].startswith("it and aks-a and aks-c do not reach each other: packets do not arrive")


def test_who_sent_to_a_rank_that_died_is_not_named_for_it() -> None:
    dead = failure(None, reason="ended by signal SIGKILL")
    assert [told["node"] for told in culprits([unreached("aks-a", "10.244.0.2"), dead])] == ["aks-b"]


def test_an_unknown_address_is_named_as_it_is() -> None:
    (told,) = culprits([unreached("aks-a", "192.0.2.9")])
    assert told["cause"].startswith("it does not reach 192.0.2.9: ")


def test_what_nccl_warned_of_first_counts_and_not_only_its_last_error() -> None:
    last = "NCCL error: remote process exited or there was a network error\nLast error:\nSocket recv failed"
    told = explained("ended with exit code 1", own=True, output=last, warned=[LOST.format("10.244.0.2"), "Socket recv"])
    assert (told["part"], told["peer"]) == (UNREACHED, "10.244.0.2")


def test_a_node_of_which_nothing_came_back_is_named_and_not_those_that_saw_it_go() -> None:
    seen: Any = {"rank": 0, "gpu": 0, "reached_bytes": 8, "wrong": 0}
    told = explained("ended with exit code 1", own=True, output="Connection closed by remote peer")
    ranks: Any = [{**seen, "failure": told}]
    entry = node_entry("aks-a", 0, "ring", ranks=ranks, logs=[""], seconds=9.0)
    addresses = {node: address for address, node in list(ADDRESSES.items())[:2]}
    run = merged([entry], tuning="ring", ranks_per_node=1, addresses=addresses)
    assert [(found["node"], found["cause"]) for found in culprits(run["failures"])] == [("aks-b", CAUSES["silent"])]


def test_a_node_whose_pods_end_again_and_again_is_named_with_where_the_reason_stands() -> None:
    seen: Any = {"rank": 0, "gpu": 0, "reached_bytes": 8, "wrong": 0}
    told = explained("ended with exit code 1", own=True, output="Connection closed by remote peer")
    ranks: Any = [{**seen, "failure": told}]
    entry = node_entry("aks-a", 0, "ring", ranks=ranks, logs=[""], seconds=9.0)
    addresses = {node: address for address, node in list(ADDRESSES.items())[:2]}
    ended = merged([entry], tuning="ring", ranks_per_node=1, addresses=addresses, replaced={"aks-b": 3})
    (check,) = [
        check for check in judged({**run(), "failures": ended["failures"]})["collective"] if check["verdict"] == "fail"
    ]
    assert check["node"] == "aks-b"
    assert "ended in the middle of it, 3 times" in str(check["measured"])
    assert "OOMKilled, exit code 137" in str(check["cause"])


def said(warning: str) -> tuple[str, str]:
    """Part and cause of a rank whose program says no more than NCCL's general error, and of what NCCL warned."""
    words = "x\nNCCL error: unhandled system error, NCCL version 2.28.9"
    found = explained("exit code 1", own=True, output=words, warned=[warning])
    return found["part"], found["cause"]


def test_a_call_of_verbs_is_explained_by_its_errno() -> None:
    for call, errno, part, cause in [
        ("ibv_reg_mr", "Cannot allocate memory", CAUSE, "lacks IPC_LOCK"),
        ("ibv_create_cq", "Cannot allocate memory", CAUSE, "lacks IPC_LOCK"),
        ("ibv_reg_mr_iova2", "Bad address", CAUSE, "nvidia-peermem is not loaded"),
        ("ibv_reg_mr", "Invalid argument", CAUSE, "nvidia-peermem is not loaded"),
        ("ibv_reg_dmabuf_mr", "Operation not supported", CAUSE, "DMA-BUF is off or not supported"),
        ("ibv_create_qp", "Operation not permitted", CAUSE, "the HCA's driver refuses the pod"),
        ("ibv_modify_qp", "Invalid argument", CAUSE, "another GID index"),
        ("ibv_modify_qp", "Connection timed out", UNREACHED, "the peer's address was not found from this device"),
        ("ibv_modify_qp", "Network is unreachable", UNREACHED, "the peer's address was not found from this device"),
        ("ibv_open_device", "No such device", CAUSE, "the HCA is gone"),
    ]:
        found = said(f"misc/ibvwrap.cc:201 NCCL WARN Call to {call} failed with error {errno}")
        assert found[0] == part
        assert cause in found[1]


def test_a_call_of_verbs_with_another_errno_is_shown_and_explained_by_nothing() -> None:
    part, cause = said("misc/ibvwrap.cc:201 NCCL WARN Call to ibv_reg_mr failed with error No space left on the HCA")
    assert (part, cause) == (CAUSE, "its last words: NCCL error: unhandled system error, NCCL version 2.28.9")


STATUSES = {
    1: (CAUSE, "longer than its buffer"), 4: (CAUSE, "HCA may not reach the GPU's memory"), 5: (FOLLOWED, ""),
    8: (CAUSE, "HCA may not reach the GPU's memory"), 10: (CAUSE, "packets do arrive"),
    11: (CAUSE, "packets do arrive"),
    12: (UNREACHED, "10.0.0.4: packets do not arrive"), 13: (UNREACHED, "10.0.0.4: it answers"),
    19: (CAUSE, "own HCA failed"), 20: (UNREACHED, "10.0.0.4: packets do not arrive"),
}  # fmt: skip
FORMS = [
    "NET/IB : Got completion from peer 10.0.0.4<4711> with error {0}, opcode 0, len 0, vendor err 129",
    "NET/IB: Got completion from peer 10.0.0.4<4711> with status={0} opcode=0 len=0 vendor err 129",
    "NET/IB: Got completion from peer 10.0.0.4<4711> with status=IBV_WC_ANY_ERR({0}) opcode=IBV_WC_SEND(0)",
]


def test_each_status_of_a_completion_has_its_own_meaning_in_every_releases_words() -> None:
    for status in STATUSES:
        for form in FORMS:
            part, cause = said(form.format(status))
            assert part == STATUSES[status][0]
            assert STATUSES[status][1] in cause


def test_nccl_2_32_tells_a_status_and_a_socket_otherwise() -> None:
    status = "devIndex=0, wc->status=(IBV_WC_LOC_PROT_ERR)4, wc->opcode=(IBV_WC_RECV)128"
    assert "GPU's memory" in said(f"NET/IB: mlx5_ib0: Got completion with error ({status})")[1]
    part, cause = said("ncclOsSocketPollConnect: connect to 10.0.0.4<4711> failed : Connection timed out")
    assert part == UNREACHED
    assert cause.startswith("it does not reach 10.0.0.4")


def test_a_status_that_is_not_known_is_shown_and_explained_by_nothing() -> None:
    assert said(FORMS[0].format(17))[1].startswith("its last words: ")


def test_nvlink_without_a_compute_domain_is_no_fault_of_the_network() -> None:
    part, cause = said("transport/nvls.cc:156 NCCL WARN Cuda failure 801 'operation not supported'")
    assert part == CAUSE
    assert "ComputeDomain" in cause
