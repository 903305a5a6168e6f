"""The environment for connections over loopback: without a proxy."""

from collections.abc import Mapping
from typing import Final

LOOPBACK: Final = ("127.0.0.1", "localhost")
NO_PROXY: Final = ("no_proxy", "NO_PROXY")
"""gRPC reads the first, programs in Go either, curl the first for http."""


def reaching_loopback(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, in which no proxy is used for an address on this computer."""
    named = next((environment[name] for name in NO_PROXY if environment.get(name)), "")
    hosts = [host for host in named.split(",") if host.strip()]
    every = ",".join([*hosts, *(host for host in LOOPBACK if host not in hosts)])
    return {**environment, **dict.fromkeys(NO_PROXY, every)}
