"""The place that Azure has given a machine, from the instance metadata service."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import TypedDict

_METADATA_SECONDS = 2.0
"""Seconds that the instance metadata service has for an answer. The service runs on the machine's own host, so few are
enough.
"""


class Placement(TypedDict):
    """The place that Azure has given a machine. If the group is not known, said has the reason."""

    group: str | None
    scale_set: str | None
    said: str | None


def read_placement(url: str, timeout_seconds: float = _METADATA_SECONDS) -> Placement:
    """The placement in the machine's metadata (`/metadata/instance/compute`). The request does not use a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, headers={"Metadata": "true"})  # noqa: S310 the Job says which
    try:
        with opener.open(request, timeout=timeout_seconds) as response:
            document = json.loads(response.read())
        group, scale_set = str(document["placementGroupId"]) or None, str(document["vmScaleSetName"])
    except urllib.error.HTTPError as error:
        return {"group": None, "scale_set": None, "said": f"the metadata service answers {error.code} {error.reason}"}
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        why = getattr(error, "reason", error)
        return {"group": None, "scale_set": None, "said": f"the metadata service does not answer ({why!s})"}
    return {"group": group, "scale_set": scale_set, "said": None if group else "the metadata name no placement group"}
