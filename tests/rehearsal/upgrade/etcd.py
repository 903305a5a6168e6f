"""The API server's storage, read and written past it: objects come back with their UIDs, owners and statuses."""

import base64
import json
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from rehearsal.control_plane import RunFolder

_PROTOBUF: Final = b"k8s\x00"
"""The bytes before an object in protobuf (kubernetes/apimachinery, runtime/serializer/protobuf)."""
_OPERATIONS: Final = 100
"""In one transaction; etcd takes 128."""
_SECONDS: Final = 120.0


@dataclass(frozen=True)
class Stored:
    """One object. created: etcd's revision, by which owners come before what they own."""

    key: str
    created: int
    value: bytes

    @property
    def kind(self) -> tuple[str, str]:
        """API version and kind of an object in protobuf: the first two fields of runtime.Unknown's first."""
        version, rest = _text(self.value[len(_PROTOBUF) + 2 :])
        return version, _text(rest)[0]

    @property
    def is_json(self) -> bool:
        """True if the value is text already, as custom resources are."""
        return not self.value.startswith(_PROTOBUF)


def _text(message: bytes) -> tuple[str, bytes]:
    """A string field at the start of a message, shorter than 128 bytes, and what follows it: tag, length, text."""
    end = 2 + message[1]
    return message[2:end].decode(), message[end:]


class Etcd:
    """A rehearsal's etcd, through its HTTP gateway."""

    def __init__(self, run: RunFolder) -> None:
        context = ssl.create_default_context(cafile=str(run.pki / "etcd-ca.crt"))
        context.load_cert_chain(run.pki / "etcd-client.crt", run.pki / "etcd-client.key")
        port = run.read_run_json()["ports"]["etcd"]
        self._http = httpx2.Client(
            base_url=f"https://127.0.0.1:{port}", verify=context, trust_env=False, timeout=_SECONDS
        )

    def everything(self) -> Iterator[Stored]:
        """All that the API server stores."""
        found = self._post("/v3/kv/range", {"key": _coded("/registry/"), "range_end": _coded("/registry0")})
        for entry in found.get("kvs", []):
            yield Stored(
                key=base64.b64decode(entry["key"]).decode(),
                created=int(entry["create_revision"]),
                value=base64.b64decode(entry["value"]),
            )

    def put(self, objects: Iterable[tuple[str, Any]]) -> None:
        """Store objects, as JSON, in their order: those of one transaction appear at once."""
        operations = [
            {"request_put": {"key": _coded(key), "value": _coded(json.dumps(document))}} for key, document in objects
        ]
        for start in range(0, len(operations), _OPERATIONS):
            self._post("/v3/kv/txn", {"success": operations[start : start + _OPERATIONS]})

    def _post(self, path: str, body: Any) -> Any:
        return self._http.post(path, json=body).raise_for_status().json()


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
