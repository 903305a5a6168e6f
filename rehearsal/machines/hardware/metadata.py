"""Azure's facts for a simulated machine: its instance metadata service, with the file for its address, and its host.

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
"""The suffix of a machine's name after that of its scale set."""


def metadata_files(*, size: str, machine: str, faults: list[dict[str, Any]], moved: int = 0) -> dict[str, str]:
    """The files of a machine's metadata, and of its host's data; the first are none if no service answers.

    moved: how often Azure has put the machine on another host.
    """
    name = _host(f"{machine}/{moved}" if moved else machine)
    host = {"var/lib/hyperv/.kvp_pool_3": _host_values({"PhysicalHostName": name, "HostName": name})}
    if concerning(faults, "no-metadata", machine):
        return host
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
    return {"metadata/instance/compute": json.dumps(compute), **host}


def _host(machine: str) -> str:
    """A name in the form of the examples in Azure's documentation (guest-health-impact-report.md): letters and
    digits.
    """
    return f"GGBB{uuid.uuid5(uuid.NAMESPACE_DNS, machine).int % 10**8:08d}"


def _host_values(values: dict[str, str]) -> str:
    """A pool of Hyper-V's key-value pairs: 512 bytes of key and 2048 of value, filled up with zeros (hv_kvp_daemon)."""
    return "".join(key.ljust(512, "\0") + value.ljust(2048, "\0") for key, value in values.items())


def with_metadata_of(root: Path, text: str) -> str:
    """A text in which the service's address leads to a machine's own files."""
    return _ADDRESS.sub(lambda address: root.as_uri() + address[1], text)
