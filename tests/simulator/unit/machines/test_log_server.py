import io

import pytest

from rehearsal.machines.kubelet.log_server import selected


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_last_lines_of_a_long_log_are_found_without_reading_it(end: bytes) -> None:
    lines = [b"%d " % number + b"x" * 50_000 for number in range(20)]
    found = b"".join(selected(io.BytesIO(b"\n".join(lines) + end), {"tailLines": "3"}))
    assert found == b"\n".join(lines[-3:]) + end
