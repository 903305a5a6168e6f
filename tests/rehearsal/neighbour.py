"""Another user of this computer, who knocks at ports: `python -m tests.rehearsal.neighbour AZURE_PORT PORT …`, as root.

Prints as JSON what each port answered: to gRPC calls of Azure's functions, to requests for metrics and profiles.
"""

import json
import os
import ssl
import sys
from contextlib import suppress
from typing import Final

import grpc
import httpx2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

NOBODY: Final = 65534
KEYS: Final = "azure-native:containerservice:listManagedClusterAdminCredentials"
_PATHS: Final = ("metrics", "debug/pprof/", "debug/pprof/goroutine?debug=2", "debug/flags/v", "configz")


def call(port: int) -> str:
    """What the simulated Azure says to who asks for a cluster's keys: the name of gRPC's code."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        try:
            provider_pb2_grpc.ResourceProviderStub(channel).Invoke(provider_pb2.InvokeRequest(tok=KEYS), timeout=60)
        except grpc.RpcError as refused:
            return str(refused.code().name)
    return "OK"


def get(port: int) -> dict[str, int]:
    """What a port answers to requests for metrics and profiles, where it answers in HTTP at all."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    found = {}
    with httpx2.Client(verify=context, trust_env=False, timeout=60) as client:
        for scheme in ("http", "https"):
            for path in _PATHS:
                url = f"{scheme}://127.0.0.1:{port}/{path}"
                with suppress(httpx2.HTTPError):
                    found[url] = client.get(url).status_code
    return found


if __name__ == "__main__":
    azure, *ports = map(int, sys.argv[1:])
    get(azure)  # what is imported at first use may lie where the other user cannot read
    call(azure)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    answers = {url: code for port in ports for url, code in get(port).items()}
    print(json.dumps({"azure": call(azure), "answers": answers}))
