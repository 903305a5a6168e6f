"""Figures are read from genuine outputs of the tools, and never from what is cut short, mixed up or an error."""

import re
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.payload.programs.endings import NOT_LISTENING
from aks_infiniband.validation.payload.programs.process import OutputError
from aks_infiniband.validation.payload.rdma import tools as perftest
from aks_infiniband.validation.payload.rdma.tools import figures_of
from aks_infiniband.validation.payload.tcp import tools as networks

TRANSCRIPTS = Path(__file__).with_name("transcripts")


def transcript(name: str) -> str:
    return (TRANSCRIPTS / f"{name}.txt").read_text()


def test_bandwidth_is_the_average_at_8_mib() -> None:
    assert figures_of("read-bandwidth", transcript("ib_read_bw-aks-guide")) == {"rdma-read-bandwidth": 197.48}


def test_latency_is_the_average_at_2_bytes() -> None:
    assert figures_of("read-latency", transcript("ib_read_lat-aks-guide")) == {"rdma-read-latency": 5.50}


def test_a_ping_pong_has_a_latency_and_a_throughput() -> None:
    assert figures_of("ping-pong", transcript("ibv_rc_pingpong-aks-guide")) == {
        "rdma-ping-pong-latency": 8.57,
        "rdma-ping-pong-throughput": 7643.57,
    }


def test_a_whole_header_is_no_hindrance() -> None:
    text = (
        transcript("ib_write_bw-perftest-132")
        + " 8388608    5000             196.56             196.55\t\t   0.002929\n"
    )
    assert figures_of("write-bandwidth", text) == {"rdma-write-bandwidth": 196.55}


def test_megabytes_are_never_taken_for_gigabits() -> None:
    text = (
        transcript("ib_read_bw-ucx-8852")
        + " 8388608    1000             23432.1            23430.0            0.002793\n"
    )
    with pytest.raises(OutputError, match="BW average"):
        figures_of("read-bandwidth", text)


@pytest.mark.parametrize("kept", [0, 1, 200, 500])
def test_an_output_that_was_cut_short_has_no_figure(kept: int) -> None:
    with pytest.raises(OutputError):
        figures_of("read-bandwidth", transcript("ib_read_bw-aks-guide")[:kept])


def test_rows_that_are_mixed_up_with_other_lines_do_not_count() -> None:
    text = transcript("ib_read_bw-aks-guide")
    mixed = text.replace("197.48             197.48", "197.48  Conflicting CPU frequency values detected  197.48")
    with pytest.raises(OutputError):
        figures_of("read-bandwidth", mixed)


@pytest.mark.parametrize("value", ["inf", "nan", "-3.2", "0.00"])
def test_a_number_that_is_none_is_an_error(value: str) -> None:
    text = transcript("ib_read_bw-aks-guide").replace("197.48             197.48", f"197.48             {value}")
    with pytest.raises(OutputError):
        figures_of("read-bandwidth", text)


def test_what_the_tool_said_last_is_in_the_error() -> None:
    said = " Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt=128, ccnt=0\n"
    with pytest.raises(OutputError, match="scnt=128, ccnt=0"):
        figures_of("write-bandwidth", transcript("ib_write_bw-perftest-132") + said)


@pytest.mark.parametrize(
    "said",
    [
        "Couldn't connect to 10.244.1.7:18515\nUnable to open file descriptor for socket connection",
        " Unable to init the socket connection",
        "Couldn't connect to 10.244.1.7:18515",
    ],
)
def test_a_server_that_does_not_listen_yet_is_recognised(said: str) -> None:
    assert NOT_LISTENING.search(said)
    assert not NOT_LISTENING.search("Couldn't listen to port 18515")


@pytest.mark.parametrize("kind", sorted(perftest.KINDS))
def test_server_and_client_are_called_alike_but_for_the_host(kind: str) -> None:
    server = perftest.command(kind, "mlx5_ib0", 18515)
    client = perftest.command(kind, "mlx5_ib0", 18515, "10.244.1.7")
    asking = perftest.command(kind, "mlx5_ib0", 18515, "10.244.1.7", "1")
    assert asking == [*client[:-1], "-l" if kind == "ping-pong" else "-S", "1", client[-1]]
    assert client == [*server, "10.244.1.7"]


def test_sockperf_gives_latency_message_rate_and_throughput() -> None:
    latency = networks.figures_of("ping-pong", transcript("sockperf-ping-pong-aks-guide"), "ipoib")
    assert latency == {"ipoib-latency": 44.475}
    rest = networks.figures_of("throughput", transcript("sockperf-throughput-3.7"), "pod-network")
    assert rest == {"pod-network-message-rate": 624677.0, "pod-network-throughput": 7015.416}


def test_sockperf_without_a_summary_is_an_error_though_it_ended_well() -> None:
    said = "sockperf: ERROR: Can`t connect socket (errno=111 Connection refused)\n"
    assert networks.NOT_LISTENING.search(said)
    with pytest.raises(OutputError, match="Connection refused"):
        networks.figures_of("ping-pong", said, "ipoib")


def test_colours_do_not_hide_sockperfs_summary() -> None:
    coloured: Any = re.sub("Summary", "\x1b[0mSummary\x1b[0m", transcript("sockperf-throughput-3.7"))
    assert networks.figures_of("throughput", coloured, "ipoib")["ipoib-throughput"] == 7015.416


@pytest.mark.parametrize("further", ["        BW min[Gb/sec]", "   BW min[Gb/sec]   BW max[Gb/sec]", "  CPU_Util[%]"])
def test_columns_that_other_builds_of_perftest_add_change_nothing(further: str) -> None:
    head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]" + further
    values = " 8388608    5000             395.24             395.21             0.005889" + "  0.00" * further.count(
        "["
    )
    assert figures_of("write-bandwidth", f"{head}\n{values}\n") == {"rdma-write-bandwidth": 395.21}
