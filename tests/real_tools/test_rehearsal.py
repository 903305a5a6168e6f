"""A rehearsal whose pods run real tools: from `pulumi up` to the report. docs/real-tools.md says what that needs."""

import pytest
from aks_infiniband.validation.reports import worst_values

from rehearsal.outcome.reports import reports_of
from rehearsal.real_tools.packages import UnavailableError
from rehearsal.testing.plugin import Rehearse
from rehearsal.tools.paths import PROJECT

# The virtual machine is made and started: minutes on a busy one.
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

SOFT_ROCE_GBPS = 200
"""A simulated HBv4 machine shows 393; Soft-RoCE on an emulated processor, of which 64 KiB of 8 MiB are sent, less."""
SIMULATED_US = 8.57
"""The simulated ping-pong's latency. An emulated processor takes many times that."""


def test_a_stack_is_validated_by_what_real_tools_measured_from_pulumi_up_to_the_report(rehearse: Rehearse) -> None:
    try:
        stack = rehearse(PROJECT, "hbv4", real_tools=True)
    except UnavailableError as error:
        pytest.skip(f"real tools cannot be had here: {error}")
    up = stack.up()
    log = stack.rehearsal.run.log("machines").read_text()

    assert up.succeeded, up.diagnostics
    found = reports_of(stack.outputs(), stack.rehearsal.engine_as_it_is().deployment())["hbv4"]
    values = worst_values(found, found["checks"], found["thresholds"])
    assert found["verdict"] == "pass", found["checks"]
    assert found["coverage"]["hcas"] == {"looked_at": 2, "expected": 2}
    for figure in ("rdma-write-bandwidth", "rdma-read-bandwidth"):
        assert 0 < values[figure] < SOFT_ROCE_GBPS
    assert values["rdma-ping-pong-latency"] > 2 * SIMULATED_US
    measured = [line for line in log.splitlines() if line.endswith(": exit code 0")]
    for tool in ("ibv_devinfo", "ib_read_lat", "ibv_rc_pingpong", "ib_write_bw", "ib_read_bw"):
        assert sum(f": {tool} " in line for line in measured) >= 2, log
