"""The virtual machine with the payload in it, once for all tests of a module."""

from collections.abc import Iterator

import pytest

from rehearsal.real_tools.machine import BOOT_SECONDS, Machine
from rehearsal.real_tools.packages import UnavailableError
from tests.real_tools.whole_validation import Lane, compile_payload, share


@pytest.fixture(scope="module")
def lane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    folder = tmp_path_factory.mktemp("real-tools")
    shared = folder / "share"
    shared.mkdir()
    share(shared)
    try:
        # The first start is given up, so that every run of the lane shows that a machine is started again.
        machine = Machine(folder, share=shared, boot_seconds=(0.5, *BOOT_SECONDS))
    except UnavailableError as error:
        pytest.skip(f"real tools cannot be had here: {error}")
    with machine:
        compile_payload(machine)
        yield Lane(machine, shared)
        print(f"the virtual machine took {machine.cpu_seconds():.0f} s of processor time")
