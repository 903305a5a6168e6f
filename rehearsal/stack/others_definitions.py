"""The definitions of programs that others have installed in a cluster: a Prometheus for a stack with `observability`,
Kueue or Volcano for one with `schedulerTopology`.

The definitions are there before the program runs, in a cluster that exists or that an earlier command made. A cluster
that is yet to be made has none, as on Azure. A definition that was installed meanwhile stays as it is.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import httpx2
import yaml
from lightkube import Client, KubeConfig, codecs
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

from rehearsal.stack.stack_file import section

_FOLDER: Final = Path(__file__).parent / "definitions"
_NAMED: Final = {"observability": "prometheus", "schedulerTopology": "scheduler"}
"""By section, the key that says whose definitions are there."""
_LIMIT_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.2


def register(kubeconfig: Path, config: Mapping[str, Any]) -> None:
    """Make the definitions of what a stack file's configuration names, and wait until they are served.

    An unknown name has none: the program refuses it, and says why. kubeconfig: the cluster administrator's. Raises
    TimeoutError if the API server does not serve them in time.
    """
    named = [(section(config, setting) or {}).get(key) for setting, key in _NAMED.items()]
    files = [file for file in _FOLDER.iterdir() if file.stem in named]
    client = Client(config=KubeConfig.from_file(str(kubeconfig)), trust_env=False)
    there = {every.to_dict()["metadata"]["name"] for every in client.list(CustomResourceDefinition)} if files else set()
    for document in [every for file in files for every in yaml.safe_load_all(file.read_text(encoding="utf-8"))]:
        if document["metadata"]["name"] not in there:
            client.create(codecs.from_dict(document))
        await_served(client, document["spec"])


def await_served(client: Client, spec: Mapping[str, Any]) -> None:
    """Wait until the API server serves a definition's kind. Raises TimeoutError."""
    names, deadline = spec["names"], time.monotonic() + _LIMIT_SECONDS
    make = create_global_resource if spec["scope"] == "Cluster" else create_namespaced_resource
    kind: Any = make(spec["group"], spec["versions"][0]["name"], names["kind"], names["plural"])
    while True:
        try:
            list(client.list(kind))
        except httpx2.HTTPStatusError as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{names['plural']}.{spec['group']} is not served: {error}") from error
            time.sleep(_POLL_SECONDS)
        else:
            return
