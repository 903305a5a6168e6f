import io

import pytest

from rehearsal.machines.kubelet.log_server import selected
from rehearsal.machines.nodes.patches import endpoint_patch

LOG = b"one\ntwo\nthree\n"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, LOG),
        ({"tailLines": "1"}, b"three\n"),
        ({"tailLines": "9"}, LOG),
        ({"tailLines": "0"}, b""),
        ({"tailLines": "2", "limitBytes": "3"}, b"two"),
    ],
)
def test_a_request_may_ask_for_a_part_of_the_log(query: dict[str, str], expected: bytes) -> None:
    assert b"".join(selected(io.BytesIO(LOG), query)) == expected


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_last_lines_of_a_long_log_are_found_without_reading_it(end: bytes) -> None:
    lines = [b"%d " % number + b"x" * 50_000 for number in range(20)]
    found = b"".join(selected(io.BytesIO(b"\n".join(lines) + end), {"tailLines": "3"}))
    assert found == b"\n".join(lines[-3:]) + end


def test_a_node_leads_the_api_server_to_loopback_and_is_written_once() -> None:
    patch = endpoint_patch({"status": {"addresses": [{"type": "InternalIP", "address": "10.224.0.4"}]}}, 10250)
    assert patch["status"]["addresses"] == [{"type": "InternalDNS", "address": "localhost"}]
    assert endpoint_patch(patch, 10250) == {}
    assert endpoint_patch(patch, 10251) != {}
