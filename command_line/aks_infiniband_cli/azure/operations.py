"""The progress of a request that Azure has accepted."""

from http import HTTPStatus
from typing import Any

from azure.core.exceptions import AzureError, HttpResponseError
from azure.core.polling import LROPoller

from aks_infiniband_cli.azure.answers import Progress
from aks_infiniband_cli.azure.errors import words_of


def progress_of(poller: LROPoller[Any]) -> tuple[Progress, str]:
    """The progress of a request, and Azure's words if it failed or cannot be read."""
    if not poller.done():
        return "running", ""
    try:
        poller.result()
    except AzureError as error:
        # Azure reports a failed operation with 200, as its status. Any other answer leaves the status unknown.
        failed = isinstance(error, HttpResponseError) and error.status_code == HTTPStatus.OK
        return "failed" if failed else "unread", words_of(error)
    return "ended", ""
