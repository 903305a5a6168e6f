"""The names of Services and of their pods, as a cluster's DNS has them: a file for each, which `nslookup` reads.

The names come from the EndpointSlices that Kubernetes itself makes: SERVICE and HOSTNAME.SERVICE of ready pods, in the
Service's namespace (kubernetes/dns, "Kubernetes DNS-Based Service Discovery", 2.4). A Service with an address is taken
for a headless one: it has a name only while a pod is ready.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rehearsal.machines.hardware import beneath
from rehearsal.watch.cluster import Document

_SERVICE: Final = "kubernetes.io/service-name"


@dataclass
class Names:
    """The names of one cluster, in files below a folder: NAMESPACE/NAME has the addresses, one a line."""

    folder: Path
    _written: dict[str, str] = field(default_factory=dict)

    def keep(self, slices: Iterable[Document]) -> None:
        """Bring the files up to date."""
        wanted = {path: "\n".join(sorted(lines)) + "\n" for path, lines in addresses(slices).items()}
        for path in self._written.keys() - wanted.keys():
            beneath.remove_file(self.folder, path)
        beneath.write_files(
            self.folder, {path: text for path, text in wanted.items() if self._written.get(path) != text}
        )
        self._written = wanted


def addresses(slices: Iterable[Document]) -> dict[str, set[str]]:
    """The addresses of each name, by NAMESPACE/NAME, of EndpointSlices."""
    by_file = defaultdict[str, set[str]](set)
    for each in slices:
        service = (each["metadata"].get("labels") or {}).get(_SERVICE)
        for endpoint in each.get("endpoints") or [] if service else []:
            if not (endpoint.get("conditions") or {}).get("ready", True):
                continue
            names = [service, *([f"{endpoint['hostname']}.{service}"] if endpoint.get("hostname") else [])]
            for name in names:
                by_file[f"{each['metadata']['namespace']}/{name}"] |= set(endpoint["addresses"])
    return dict(by_file)
