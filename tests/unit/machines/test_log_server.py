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
    assert selected(LOG, query) == expected


def test_a_node_leads_the_api_server_to_loopback_and_is_written_once() -> None:
    patch = endpoint_patch({"status": {"addresses": [{"type": "InternalIP", "address": "10.224.0.4"}]}}, 10250)
    assert patch["status"]["addresses"] == [{"type": "InternalDNS", "address": "localhost"}]
    assert endpoint_patch(patch, 10250) == {}
    assert endpoint_patch(patch, 10251) != {}
