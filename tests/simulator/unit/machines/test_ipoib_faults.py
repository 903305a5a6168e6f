"""A fault of an HCA, its port or its fabric is one of IPoIB too: it runs on the same port."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rehearsal.faults.machine_faults import FILE
from rehearsal.machines.hardware.hardware_faults import faulty
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import sys_files, write_files
from rehearsal.machines.rdma_tools.sockperf import IPOIB
from rehearsal.tools.paths import PROJECT

MODULES = ("ib_ipoib", "ib_umad", "ib_uverbs", "mlx5_ib", "rdma_ucm")
ADDRESSES = {"n0": "10.1.0.1", "n1": "10.1.0.2"}
"""Addresses of net1, on each machine's only HCA."""
PROGRAM = "import sys; from rehearsal.machines.rdma_tools.sockperf import main; sys.exit(main(sys.argv[1:]))"


def environment(run: Path, node: str, pod_ip: str) -> dict[str, str]:
    names = {"AKS_INFINIBAND_REHEARSAL": run, "REHEARSAL_MACHINE": run / node, "REHEARSAL_CONTAINER": run / node}
    own = {IPOIB: f"net1/{ADDRESSES[node]}/mlx5_0", "REHEARSAL_NODE": node, "REHEARSAL_POD_IP": pod_ip}
    return {**os.environ, **{name: str(value) for name, value in names.items()}, **own}


def sockperf(run: Path, node: str, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=PROJECT,
        env=environment(run, node, f"10.244.0.{node[1:]}"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Path]:
    """A run folder with two machines, of which the second serves on net1 and on the pod network."""
    started = [sockperf(tmp_path, "n1", "server", "-i", address, "--tcp") for address in ("10.1.0.2", "10.244.0.1")]
    for server in started:
        assert server.stdout is not None
        while "listen on" not in server.stdout.readline():
            assert server.poll() is None
    yield tmp_path
    for server in started:
        server.kill()
        server.communicate()


def asked(run: Path, address: str, *faults: dict[str, Any]) -> str:
    """A client's words on an address, on the first machine, with these faults."""
    (run / FILE).parent.mkdir(exist_ok=True)
    (run / FILE).write_text(json.dumps(faults))
    for node in ADDRESSES:
        hardware = faulty(hardware_of(size="Standard_HB176rs_v4", machine=node, fabric="hb"), node, run)
        write_files(run / node, {f"sys/{path}": text for path, text in sys_files(hardware, MODULES).items()})
    return sockperf(run, "n0", "ping-pong", "-i", address, "--tcp").communicate(timeout=120)[0]


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "link-down", "node": "n0"},
        {"fault": "link-down", "node": "n1"},
        {"fault": "partition", "node": "n1"},
        {"fault": "placement-group", "node": "n1"},
    ],
    ids=lambda fault: f"{fault['fault']} of {fault['node']}",
)
def test_where_rdma_reaches_nobody_neither_does_ipoib_and_the_pod_network_goes_on(
    servers: Path, fault: dict[str, Any]
) -> None:
    assert "Summary: Latency is" in asked(servers, "10.1.0.2")
    assert "errno=113 No route to host" in asked(servers, "10.1.0.2", fault)
    assert "Summary: Latency is" in asked(servers, "10.244.0.1", fault)
