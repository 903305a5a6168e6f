"""One document that is kept in a cluster, which several commands read and write at once."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast

from aks_infiniband.validation.kept import Kept, aside
from lightkube import ApiError, Client
from lightkube.resources.core_v1 import ConfigMap

from aks_infiniband_cli.console import note


class Keeping:
    """A document of one cluster. Methods raise ApiError, and what a connection raises."""

    def __init__(self, client: Client, namespace: str, kept: Kept) -> None:
        self._client, self._namespace, self._kept = client, namespace, kept

    def read(self) -> dict[str, Any]:
        """Its ConfigMap; empty if there is none yet."""
        try:
            return dict(self._client.get(ConfigMap, self._kept.name, namespace=self._namespace).to_dict())
        except ApiError as error:
            if error.status.code != HTTPStatus.NOT_FOUND:
                raise
            return {}

    def set_aside(self, kept: Mapping[str, Any], why: str) -> str:
        """Keep what cannot be read under another name, which it returns, before it is written over."""
        document = aside(self._kept, kept)
        document["metadata"]["namespace"], name = self._namespace, str(document["metadata"]["name"])
        if self._made(document):
            note(f"{self._kept.what} cannot be read: {why}. The old content is kept as ConfigMap {name}")
        return name

    def write(self, kept: Mapping[str, Any], contents: Mapping[str, Any]) -> bool:
        """Write the ConfigMap's contents; False if another command has written since it was found."""
        version = (kept.get("metadata") or {}).get("resourceVersion")
        metadata = {"name": self._kept.name, "namespace": self._namespace, "labels": dict(self._kept.labels)}
        document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **contents}
        if not version:
            return self._made(document)
        metadata["resourceVersion"] = version
        return self._done(self._client.replace, document)

    def _made(self, document: Mapping[str, Any]) -> bool:
        return self._done(self._client.create, document)

    def _done(self, write: Any, document: Mapping[str, Any]) -> bool:
        try:
            write(cast("ConfigMap", ConfigMap.from_dict(json.loads(json.dumps(document)))))
        except ApiError as error:
            if error.status.code != HTTPStatus.CONFLICT:
                raise
            return False
        return True
