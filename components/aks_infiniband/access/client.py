"""Clients of an API server. Importing them takes a second."""

from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import yaml
from lightkube import Client, KubeConfig
from lightkube.config import client_adapter
from lightkube.config.kubeconfig import SingleConfig

from aks_infiniband.access.kubeconfig import KubeconfigError

_REQUEST_SECONDS: Final = 5.0
_LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
"""Not reached through a proxy, whatever the environment says: so does the Kubernetes provider."""
_V1: Final = "client.authentication.k8s.io/v1"
_V1BETA1: Final = "client.authentication.k8s.io/v1beta1"


def connect(kubeconfig: str, *, request_seconds: float = _REQUEST_SECONDS) -> Client:
    """A client of the cluster, as the Kubernetes provider reaches it: its login is never interactive."""
    config, parameters = _parameters(kubeconfig, request_seconds)
    return Client(config, timeout=parameters.timeout, trust_env=parameters.trust_env)


def connect_plainly(kubeconfig: str, *, request_seconds: float = _REQUEST_SECONDS) -> httpx2.Client:
    """The same without types: requests by path, and answers as they come."""
    config, parameters = _parameters(kubeconfig, request_seconds)
    return client_adapter.Client(config, parameters)


def _parameters(kubeconfig: str, request_seconds: float) -> tuple[SingleConfig, client_adapter.ConnectionParams]:
    config = yaml.safe_load(kubeconfig)
    for user in config.get("users") or []:
        _as_lightkube_takes_it((user.get("user") or {}).get("exec"))
    loopback = any(urlsplit(entry["cluster"]["server"]).hostname in _LOOPBACK for entry in config["clusters"])
    timeout = httpx2.Timeout(request_seconds)
    single = KubeConfig.from_dict(config).get()
    if single is None:
        raise KubeconfigError("the kubeconfig does not have a current-context")
    return single, client_adapter.ConnectionParams(timeout=timeout, trust_env=not loopback)


def _as_lightkube_takes_it(exec_plugin: dict[str, Any] | None) -> None:
    """Make a credential plugin use v1beta1, which lightkube understands and whose answer is the same as v1's."""
    if exec_plugin is None:
        return
    if exec_plugin.get("apiVersion") == _V1:
        exec_plugin["apiVersion"] = _V1BETA1
    info = f'{{"apiVersion": "{_V1BETA1}", "kind": "ExecCredential", "spec": {{"interactive": false}}}}'
    exec_plugin["env"] = [*(exec_plugin.get("env") or []), {"name": "KUBERNETES_EXEC_INFO", "value": info}]
