"""Another user of this computer, who knocks at ports: `python -m tests.rehearsal.neighbour PORT …`.

Prints as JSON the answer of each port to this user and, if this user is root, to another one: to gRPC calls, and to
requests for metrics and profiles.
"""

import json
import os
import ssl
import sys
from contextlib import suppress
from typing import Any, Final

import grpc
import httpx2

NOBODY: Final = 65534
_CALLS: Final = ("/grpc.health.v1.Health/Check", "/pulumirpc.ResourceProvider/Invoke")
"""Calls that Pulumi's own servers answer, and one that a provider does."""
_PATHS: Final = ("metrics", "debug/pprof/", "debug/pprof/goroutine?debug=2", "debug/flags/v", "configz")


def call(port: int) -> list[str]:
    """The name of gRPC's code of the answer to each call, sent without any content."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        return [_code(channel, method) for method in _CALLS]


def _code(channel: grpc.Channel, method: str) -> str:
    ask: Any = channel.unary_unary(method)
    try:
        ask(b"", timeout=20)
    except grpc.RpcError as refused:
        return str(refused.code().name)
    return "OK"


def get(port: int) -> dict[str, int]:
    """A port's answers to requests for metrics and profiles, if it answers in HTTP at all."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    found = {}
    with httpx2.Client(verify=context, trust_env=False, timeout=20) as client:
        for scheme in ("http", "https"):
            for path in _PATHS:
                url = f"{scheme}://127.0.0.1:{port}/{path}"
                with suppress(httpx2.HTTPError):
                    found[url] = client.get(url).status_code
    return found


def knock(ports: list[int]) -> dict[str, Any]:
    """The answers of all ports to the user of this process."""
    pages = {url: status for port in ports for url, status in get(port).items()}
    return {"calls": {port: call(port) for port in ports}, "pages": pages}


if __name__ == "__main__":
    asked = [int(port) for port in sys.argv[1:]]
    said: dict[str, Any] = {"owner": knock(asked)}  # first, because another user may not read what it imports
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        said["neighbour"] = knock(asked)
    print(json.dumps(said))
