"""The project's tests use the fixture `rehearse`, as any user's do, unless a reason is given here."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
STARTS = re.compile(r"\bRehearsal\(|\.data_centre\(|\brehearsing\(|\bControlPlane\.start\(")
BY_HAND = {
    "existing/test_existing_cluster.py": "needs the API server alone",
    "existing/test_modes_without_a_stack.py": "ends each data centre before the next",
    "interruption/destroy.py": "is a command that a test kills",
    "interruption/test_killed_engine.py": "has Azure in its own process, whose clock it stops",
    "test_data_centre.py": "tests the data centre",
    "replace/sixteen_machines/conftest.py": "is for several modules",
    "stacks/test_releases.py": "ends each data centre before the next",
    "upgrade/__main__.py": "is a command that records",
    "upgrade/deployment.py": "puts a recording there before the simulators start",
    "upgrade/test_upgrade.py": "has what is recorded put there before",
}
"""Tests of a stack, and why each starts its data centre by itself."""
PARTS = (
    "azure/test_draining.py",
    "control_plane/test_control_plane.py",
    "interruption/test_second_manager.py",
    "machines/conftest.py",
    "machines/test_interruptions.py",
    "operators/conftest.py",
    "report/test_report_from_a_cluster.py",
    "simulated_azure.py",
    "validation/conftest.py",
    "validation/test_pools_that_fill_a_fabric.py",
)
"""Tests of a part of the data centre, or of one component, without a stack: they start that part alone."""


def test_a_test_starts_a_data_centre_by_itself_for_a_reason_alone() -> None:
    found = {
        str(file.relative_to(folder))
        for folder in (ROOT / "tests/rehearsal", ROOT / "tests/simulator/engine")
        for file in folder.rglob("*.py")
        if STARTS.search(file.read_text())
    }

    assert found == {*BY_HAND, *PARTS}, "use the fixture `rehearse`, or give the reason here"
