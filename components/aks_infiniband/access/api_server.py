"""Waiting for the API server of a cluster that was just made: its name may take minutes to be known everywhere."""

import asyncio
import ssl
import time
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import pulumi
import yaml

LIMIT_SECONDS: Final = 900.0
"""Users waited 5 to 10 minutes (Azure/AKS issue 882, 2019-03-27)."""
_PAUSE_SECONDS: Final = 2.0
_DIAL_SECONDS: Final = 10.0


class ApiServerError(pulumi.RunError):
    """An API server that takes no connections; the text names it, why, and what to do."""


async def reachable(kubeconfig: str, *, limit_seconds: float = LIMIT_SECONDS) -> str:
    """The kubeconfig of one cluster. The kubeconfig is known once the API server takes connections. Raises
    ApiServerError after the limit.

    The Kubernetes provider looks for the server only when it starts. If it finds none, everything that it has to do in
    the same run fails with "configured Kubernetes cluster is unreachable" (pulumi-kubernetes 4.27.0, provider.go,
    Configure). The program does not wait at preview, nor behind a proxy, which takes connections whatever is behind it.
    """
    clusters = yaml.safe_load(kubeconfig).get("clusters") or [{"cluster": {}}]
    server = urlsplit(clusters[0]["cluster"].get("server") or "")
    host, port = server.hostname, server.port or 443
    if host is None or pulumi.runtime.is_dry_run() or ("https" in getproxies() and not proxy_bypass(host)):
        return kubeconfig
    begun, said = time.monotonic(), False
    while reason := await why_no_connection(host, port):
        if time.monotonic() - begun > limit_seconds:
            raise ApiServerError(
                f"the API server {host}:{port} has taken no connection for {limit_seconds:.0f} s: {reason}. If the "
                "cluster is private, run from its network; if cluster.apiServer.authorizedIpRanges is set, add this "
                "machine's address; if it was stopped, az aks start. Then pulumi up, which continues from here"
            )
        if not said:
            pulumi.log.info(f"waiting for the API server {host}:{port}, up to {limit_seconds:.0f} s: {reason}")
        said = True
        await asyncio.sleep(_PAUSE_SECONDS)
    return kubeconfig


async def why_no_connection(host: str, port: int) -> str | None:
    """The reason of a failed connection; None if it succeeds. Nothing is sent over it, so no certificate is checked."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        _, writer = await asyncio.wait_for(asyncio.open_connection(host, port, ssl=context), _DIAL_SECONDS)
    except OSError as error:  # a time-out is one too
        return str(error) or type(error).__name__
    writer.close()
    return None
