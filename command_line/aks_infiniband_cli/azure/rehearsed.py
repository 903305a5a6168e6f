"""The simulated Azure of a rehearsal, in a shell that the rehearsal's `activate` has put there.

A file has its address and its user. The command line and the rehearsal import nothing of each other.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from aks_infiniband.handwritten import HandwrittenError, json_document
from aks_infiniband.handwritten.form import Form, formed
from azure.core.credentials import AccessToken

from aks_infiniband_cli.console import CommandError

VARIABLE: Final = "AKS_INFINIBAND_AZURE"
"""Names the file."""
_HOUR: Final = 3600


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """A login to a simulated Azure, which is a credential to Azure's clients. certificate_authority: path."""

    endpoint: str
    token: str
    subscription: str
    certificate_authority: str

    def get_token(self, *_scopes: str, **_more: Any) -> AccessToken:
        """The one token that it takes."""
        return AccessToken(self.token, int(time.time()) + _HOUR)


class _Login(Form):
    endpoint: str
    token: str
    subscription: str
    certificateAuthority: str  # noqa: N815 the file's own key


def rehearsed() -> Rehearsed | None:
    """That of the shell; None outside of a rehearsal. Raises CommandError if the rehearsal has ended."""
    named = os.environ.get(VARIABLE)
    if not named:
        return None
    try:
        login = formed(_Login, json_document(Path(named).read_bytes()))
        return Rehearsed(
            endpoint=login.endpoint,
            token=login.token,
            subscription=login.subscription,
            certificate_authority=login.certificateAuthority,
        )
    except (OSError, HandwrittenError) as error:
        raise CommandError(
            f"{VARIABLE} names {named}, which a rehearsal writes while it is up: rehearse with KEEP=1, or open a new "
            "shell for Azure itself"
        ) from error
