"""Changes a pool's count in a running rehearsal, as the cluster autoscaler would."""

import json
from typing import Final

import grpc
from google.protobuf import json_format
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from rehearsal.azure.resources.autoscaling import AUTOSCALE
from rehearsal.azure.wire import to_struct
from rehearsal.run.folder import RunFolder

_SECONDS: Final = 120.0


def scale(run: RunFolder, pool: str, count: int) -> int:
    """Set a pool's count and wait for the machines; returns the count that Azure then shows.

    Raises grpc.RpcError, with the reason in its details, for a pool whose bounds do not allow the count.
    """
    port = json.loads(run.ready_file("azure").read_text())["port"]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)]) as channel:
        request = provider_pb2.InvokeRequest(tok=AUTOSCALE, args=to_struct({"pool": pool, "count": count}))
        answer = provider_pb2_grpc.ResourceProviderStub(channel).Invoke(request, timeout=_SECONDS)
    return int(json_format.MessageToDict(getattr(answer, "return"))["count"])
