"""What Azure's instance metadata service says of a simulated machine: a file, to which the service's address leads.

Names of the fields are those of Azure's documentation ("Azure Instance Metadata Service"), which gives no sample of a
scale set with a placement group: its form, a GUID, is assumed.
"""

import json
import re
import uuid
from pathlib import Path
from typing import Any, Final

from rehearsal.faults.machine_faults import concerning

_ADDRESS: Final = re.compile(r"http://169\.254\.169\.254(/[^\s?]*)\S*")
_INSTANCE: Final = re.compile(r"[0-9a-z]{6}$|-\d+$")
"""What a machine's name has behind that of its scale set."""


def metadata_files(*, size: str, machine: str, faults: list[dict[str, Any]]) -> dict[str, str]:
    """The files of a machine's metadata; none where the service does not answer."""
    if concerning(faults, "no-metadata", machine):
        return {}
    scale_set = _INSTANCE.sub("", machine)
    group = machine if concerning(faults, "placement-group", machine) else scale_set
    compute = {
        "azEnvironment": "AzurePublicCloud",
        "osType": "Linux",
        "placementGroupId": str(uuid.uuid5(uuid.NAMESPACE_DNS, group)),
        "provider": "Microsoft.Compute",
        "vmId": str(uuid.uuid5(uuid.NAMESPACE_DNS, machine)),
        "vmScaleSetName": scale_set,
        "vmSize": size,
    }
    return {"metadata/instance/compute": json.dumps(compute)}


def with_metadata_of(root: Path, text: str) -> str:
    """A text in which the service's address leads to a machine's own files."""
    return _ADDRESS.sub(lambda found: root.as_uri() + found[1], text)
