"""The errors of Azure's clients, in words for a person."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError, ResourceNotFoundError

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.stack_file import SUBSCRIPTION


def words_of(error: AzureError) -> str:
    """Azure's code and words in one line, with its details: AKS gives the cause of a failed operation there.

    The clients read both forms, Resource Manager's with an object `error` and AKS's without one
    (docs/records/facts.yaml).
    """
    told: Any = getattr(error, "error", None)
    said = " ".join(_of(told)) if told is not None else str(error).strip().partition("\n")[0]
    return " ".join(said.split())


def _of(told: Any) -> Iterator[str]:
    yield ": ".join(part for part in (told.code, told.message) if part)
    for detail in told.details or ():
        yield f"({' '.join(_of(detail))})"


def remedy_of(error: AzureError) -> str:
    """The remedy if a subscription cannot be read."""
    if isinstance(error, ClientAuthenticationError):
        return "az login, or the environment variables of a service principal; then again"
    if isinstance(error, HttpResponseError):
        return f"name one that this login may read (--subscription, or {SUBSCRIPTION}): az account list --output table"
    return "let this machine reach Azure Resource Manager; a proxy or firewall may be in the way"


@contextmanager
def in_words(failed: str, *, advise: bool = False) -> Iterator[None]:
    """Raise CommandError for the errors of Azure's clients. failed: what did not work. advise: add what to do."""
    try:
        yield
    except ResourceNotFoundError as error:
        raise CommandError(f"{failed}: it is not there ({words_of(error)})") from error
    except AzureError as error:
        advice = f"; {remedy_of(error)}" if advise else ""
        raise CommandError(f"{failed}: {words_of(error)}{advice}") from error
