"""Changes a pool in the simulated Azure, without the program."""

import json
from typing import Any, Final

import grpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from rehearsal.azure.wire import to_struct
from rehearsal.run.folder import RunFolder

_POOL: Final = "azure-native:containerservice:AgentPool"
_SECONDS: Final = 120.0


def change_pool(run: RunFolder, name: str, **changes: Any) -> None:
    """Change properties of a pool, by the names that Azure has for them, and wait for the machines."""
    held = json.loads((run.azure / "state.json").read_text())["resources"]
    (pool,) = [record for record in held if record["id"].endswith(f"/agentPools/{name}")]
    request = provider_pb2.UpdateRequest(
        id=pool["id"],
        urn=f"urn:pulumi:by::hand::{_POOL}::{name}",
        olds=to_struct(pool["inputs"]),
        news=to_struct({**pool["inputs"], **changes}),
    )
    port = json.loads(run.ready_file("azure").read_text())["port"]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)]) as channel:
        provider_pb2_grpc.ResourceProviderStub(channel).Update(request, timeout=_SECONDS)
