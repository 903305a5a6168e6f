"""The virtual machine with the payload in it, once for all tests of a module."""

from collections.abc import Iterator

import pytest

from rehearsal.real_tools.machine import Machine
from rehearsal.real_tools.packages import UnavailableError
from tests.real_tools.whole_validation import Lane, compile_payload, share


@pytest.fixture(scope="module")
def lane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    folder = tmp_path_factory.mktemp("real-tools")
    shared = folder / "share"
    shared.mkdir()
    share(shared)
    try:
        machine = Machine(folder, share=shared)
    except UnavailableError as error:
        pytest.skip(f"real tools cannot be had here: {error}")
    with machine:
        compile_payload(machine)
        yield Lane(machine, shared)
        print(f"the virtual machine took {machine.cpu_seconds():.0f} s of processor time")
