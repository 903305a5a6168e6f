"""Keeps the pods of each node from the cluster's changes, so that a look at one node does not go through the pods of
all.
"""

from dataclasses import dataclass, field

from rehearsal.watch.cluster import Cluster, Document, Key


@dataclass
class PodsByNode:
    """The pods that are bound to each node."""

    _pods: dict[str, dict[Key, Document]] = field(default_factory=dict)

    @classmethod
    def of(cls, cluster: Cluster) -> "PodsByNode":
        """The pods of a cluster, from now on."""
        index = cls()
        cluster.listeners.append(index.hear)
        return index

    def on(self, node: str) -> list[Document]:
        """The pods on a node."""
        return list(self._pods.get(node, {}).values())

    def hear(self, kind: str, document: Document, gone: bool) -> None:
        """Take note of a change."""
        metadata, node = document["metadata"], document["spec"].get("nodeName") if kind == "Pod" else None
        if node is None:
            return
        key = metadata["namespace"], metadata["name"]
        if gone:
            self._pods.get(node, {}).pop(key, None)
        else:
            self._pods.setdefault(node, {})[key] = document
