"""A client of a cluster, and what comes of a request that has no answer. Importing it takes a second."""

from typing import Final

from aks_infiniband.diagnosis.collect import connect
from httpx2 import HTTPError
from lightkube import Client
from lightkube.core.exceptions import ConfigError

from aks_infiniband_cli.console import CommandError

NO_ANSWER: Final = (HTTPError, ConfigError)
"""What a request raises: the API server refuses, is silent or not there; or the program that logs in fails, as
kubelogin does where the login has expired."""
_REQUEST_SECONDS: Final = 30.0


def connected(kubeconfig: str) -> Client:
    """A client of the cluster of a kubeconfig, as YAML. Raises CommandError for a kubeconfig that is none."""
    try:
        return connect(kubeconfig, request_seconds=_REQUEST_SECONDS)
    except Exception as error:  # whatever a broken kubeconfig brings
        raise CommandError(f"the kubeconfig cannot be used: {type(error).__name__}: {error}") from error
